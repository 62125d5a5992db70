// Package suite runs the tests of the workspace: as the user it is itself, as
// an ordinary user when it is root, and with the race detector.
//
// Start with [NewRunner], which makes the folder that a run keeps everything
// in, then [Runner.Present], [Runner.Ordinary] and [Runner.Race]. A test binary
// of the ordinary user's run is started by [RunAs], from a process of its own
// that go test starts as root. [Runner.LeftBehind] says what the tests did not
// clean up.
//
// The ordinary user sees a copy of the tree and of the modules it is built
// from: the real ones may lie in a folder that only root can enter.
package suite
