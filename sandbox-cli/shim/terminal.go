package shim

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// A terminal is the one that this process is on: what is typed goes to the
// terminal that the tool has outside, which does with it what this one would.
type terminal struct {
	errorsToo bool

	mu    sync.Mutex
	state *term.State // as it was before it was made raw; nil: it is not
}

// terminalHere is the terminal of this process, where both input and output are
// it and it is this process's turn; else nil, and nothing is done with it.
func terminalHere() *terminal {
	if !term.IsTerminal(0) || !term.IsTerminal(1) {
		return nil
	}
	if group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return nil
	}
	return &terminal{errorsToo: term.IsTerminal(2)}
}

func (t *terminal) size() frame.WindowOf {
	cols, rows, err := term.GetSize(1)
	if err != nil {
		return frame.WindowOf{Rows: 24, Cols: 80}
	}
	return frame.WindowOf{Rows: uint16(rows), Cols: uint16(cols)}
}

// raw has the terminal pass everything on.
func (t *terminal) raw() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == nil {
		t.state, _ = term.MakeRaw(int(os.Stdin.Fd()))
	}
}

// restore has it as it was.
func (t *terminal) restore() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != nil {
		term.Restore(0, t.state)
		t.state = nil
	}
}
