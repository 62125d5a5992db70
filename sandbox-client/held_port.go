package client

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// ListenerVariable names the descriptor of a listener that a wrapped command
// is handed open. The proxy takes it out of its program's environment.
const ListenerVariable = "LNK_PROXY_LISTENER_FD"

// HeldPort holds a port of 127.0.0.1 from the moment it is chosen, so that
// nothing else can take it before the proxy that is to listen there has
// started. Its port goes into Listen of an [Unwalled]'s proxy; then HandTo
// hands the listener itself to the wrapped command.
type HeldPort struct {
	port uint16

	mu       sync.Mutex
	listener *net.TCPListener
	files    []*os.File
}

// HoldPort listens on a port of 127.0.0.1; on zero, on one that is free. Calls
// that come before the proxy serves them wait.
func HoldPort(port uint16) (*HeldPort, error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
	if err != nil {
		return nil, fmt.Errorf("holding port %d: %w", port, err)
	}
	return &HeldPort{port: uint16(l.Addr().(*net.TCPAddr).Port), listener: l}, nil
}

// Port is the port that is held, 1 to 65535.
func (h *HeldPort) Port() uint16 { return h.port }

// HandTo has cmd start with the listener open and [ListenerVariable] naming
// it. It adds to cmd's Env, so that is set first, and to its ExtraFiles. Close
// the port once cmd has started: from then on the command holds it.
func (h *HeldPort) HandTo(cmd *exec.Cmd) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listener == nil {
		return fmt.Errorf("handing on port %d: %w", h.port, net.ErrClosed)
	}
	f, err := h.listener.File()
	if err != nil {
		return fmt.Errorf("handing on port %d: %w", h.port, err)
	}
	h.files = append(h.files, f)
	// ExtraFiles[i] is descriptor 3+i of the child (os/exec).
	fd := 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	cmd.Env = append(cmd.Environ(), ListenerVariable+"="+strconv.Itoa(fd))
	return nil
}

// Close lets the port go, here only: a command that was handed it keeps it.
func (h *HeldPort) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listener == nil {
		return nil
	}
	err := h.listener.Close()
	h.listener = nil
	for _, f := range h.files {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	h.files = nil
	return err
}
