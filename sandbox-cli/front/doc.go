// Package front is the lnk command: it finds the plugin that a command names
// and becomes it.
//
// [Main] runs one command. A plugin is looked for beside the lnk binary
// first, then on PATH, as git finds its own commands. A plugin's name is
// lower-case letters, digits and hyphens, so that no name becomes a path.
package front
