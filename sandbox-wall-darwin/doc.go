// Package darwinwall is the home of the wall on macOS: a confinement of
// [github.com/lnkhq/lnk-sandbox/sandbox-client] rendered as a Seatbelt profile
// that the system's own sandbox-exec enforces.
//
// It holds nothing yet. No profile is rendered, nothing is enforced, and the
// command line refuses to start a sandbox on macOS and says so, rather than
// start a program with no wall or a weaker one.
//
// What it will hold, so that its reader can judge the gap:
//
//   - a pure function from a confinement and the facts of the machine to the
//     profile's text, which needs no Mac to be tested;
//   - an evaluator of the part of the profile language that is rendered, for
//     the tests: the published readings of rule precedence differ, and a
//     profile counts only when all of them give the same answer;
//   - the thin part that resolves paths as the kernel does, gives the program
//     a terminal of its own, and starts it.
//
// It will import sandbox-client and nothing else of ours: a wall does not know
// the proxy.
package darwinwall
