// Package written remembers which folders sandboxes wrote, and since when: what
// a run left there, a link above all, must not open anything to a later run
// that does not write the folder itself.
//
// Start with [Read], which reads a record, and [Keep], which adds to the one of
// the settings folder before a program starts. [Folders.Since] answers.
//
// What it promises: a folder that a program is about to write is in the record
// before it starts, or the start fails. A record that cannot be read is an
// error and not an empty one.
//
// Limits: a folder that is moved away is not followed. Folders that are gone
// are forgotten once there are many.
package written
