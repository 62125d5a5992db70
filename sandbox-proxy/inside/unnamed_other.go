//go:build !linux

package inside

// Unnamed is made on Linux only.
type Unnamed struct{}

// Close does nothing.
func (*Unnamed) Close() error { return nil }
