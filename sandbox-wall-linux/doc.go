// Package linuxwall TODO.
package linuxwall
