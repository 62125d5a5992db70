// Package verdict reads what "go test -json" prints and says what it comes to:
// how many tests passed, failed and were skipped, and which skips count as
// failures.
//
// Start with [Run.Read], which takes one run's events as they come, and
// [Unjustified], which judges the skips of all runs together: a test that was
// skipped as root and passed as an ordinary user has been run on this machine.
//
// A skip says what it needs, in words that [Facts] know: "needs root", "needs
// landlock 6". One that needs what this machine has, or that says it in other
// words, could have run: where skips are forbidden it fails.
package verdict
