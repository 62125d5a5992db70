//go:build !linux

package inside

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
)

var errOther = fmt.Errorf("a network of the program's own: %w: it needs Linux", errors.ErrUnsupported)

// Handover is made on Linux only.
type Handover struct{}

// Prepare fails with [errors.ErrUnsupported].
func Prepare(*exec.Cmd, Want) (*Handover, error) { return nil, failed(StepStart, "", errOther) }

// PrepareHanded fails with [errors.ErrUnsupported].
func PrepareHanded(*exec.Cmd, Want) (*Handover, error) { return nil, failed(StepStart, "", errOther) }

// FD is -1.
func (*Handover) FD() int { return -1 }

// Start fails with [errors.ErrUnsupported].
func (*Handover) Start() error { return failed(StepStart, "", errOther) }

// Receive fails with [errors.ErrUnsupported].
func (*Handover) Receive(context.Context) (*Listeners, error) {
	return nil, failed(StepHandOver, "", errOther)
}

// Go fails with [errors.ErrUnsupported].
func (*Handover) Go() error { return failed(StepWait, "", errOther) }

// Close does nothing.
func (*Handover) Close() {}

// Sockets is nil.
func (*Handover) Sockets() *Sockets { return nil }

// Sockets are made on Linux only.
type Sockets struct{}

// Dial fails with [errors.ErrUnsupported].
func (*Sockets) Dial(context.Context, uint16) (net.Conn, error) {
	return nil, failed(StepControl, "", errOther)
}

// Close does nothing.
func (*Sockets) Close() error { return nil }

// Unnamed is made on Linux only.
type Unnamed struct{}

// Next fails with [errors.ErrUnsupported].
func (*Unnamed) Next() (Meant, error) { return Meant{}, errOther }

// End does nothing.
func (*Unnamed) End() {}

// Close does nothing.
func (*Unnamed) Close() error { return nil }

// Enter fails with [errors.ErrUnsupported].
func Enter(int, Want) error { return failed(StepNamespace, "", errOther) }

// OriginalDst fails with [errors.ErrUnsupported].
func OriginalDst(net.Conn) (netip.AddrPort, error) { return netip.AddrPort{}, errOther }
