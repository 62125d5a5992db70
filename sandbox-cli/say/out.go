package say

import "io"

// An Out is where a command's answer goes. It remembers that it could not be
// written: most of what prints does not look.
type Out struct {
	io.Writer
	err error
}

// Write writes, and keeps the first error.
func (o *Out) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Err is the first error, or nil.
func (o *Out) Err() error { return o.err }
