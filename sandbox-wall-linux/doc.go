// Package linuxwall decides and prepares the wall that Linux keeps around a
// program: which files it sees, and how.
package linuxwall
