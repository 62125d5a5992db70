//go:build !linux

package folder

import (
	"context"
	"errors"
	"fmt"
	"net"
)

var errOther = fmt.Errorf("sockets in a folder: %w: they need Linux", errors.ErrUnsupported)

// Folder is one of Linux.
type Folder struct{}

// Open fails with [errors.ErrUnsupported].
func Open(string, int) (*Folder, error) { return nil, errOther }

// Make fails with [errors.ErrUnsupported].
func Make(string) error { return errOther }

// Listen fails with [errors.ErrUnsupported].
func (*Folder) Listen(string) (net.Listener, error) { return nil, errOther }

// Dial fails with [errors.ErrUnsupported].
func (*Folder) Dial(context.Context, string, int) (net.Conn, error) { return nil, errOther }

// Close does nothing.
func (*Folder) Close() error { return nil }
