// Package workspace knows the repository: where it is, which modules it has,
// and how the go command is run in it.
//
// Start with [Find], which looks upwards from the working folder, and
// [Workspace.Go], which runs the go command and gives its output. Nothing here
// changes a file.
package workspace
