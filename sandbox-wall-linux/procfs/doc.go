// Package procfs reads texts of proc(5) that several parts of the wall ask.
//
// Start with [Mounts], for /proc/<pid>/mountinfo, and [Stat], for
// /proc/<pid>/stat. Both are pure: whoever calls has read the text, with a
// bound of its own. A line of another form is passed over.
//
// Limits: what is not asked for is not read. sandbox-client and the probes read
// such texts by themselves, since they share no code with the wall.
package procfs
