package launch

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
)

// A guard stands in for the watch of the mounts while we are stopped: what the
// program left in process groups of its own goes on then, and would find open what
// lost its cover meanwhile.
type guard struct {
	process *direct.Guard
	table   int
}

// aboveStreams is more than any descriptor that a guard has its own at.
const aboveStreams = 10

// beginGuard begins one; nil is none, where there is nothing to be watched.
func (b *sandbox) beginGuard() (*guard, error) {
	first := b.first()
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.mounts
	if w == nil || first == 0 {
		return nil, nil
	}
	table, err := openMounts(first)
	if table < 0 {
		return nil, err
	}
	g := &guard{table: table}
	if w.watchMoves() {
		if err := b.lookAtMounts(&mountWatch{table: table}); err != nil {
			unix.Close(table)
			return nil, err
		}
	}
	waited, patience := w.waits()
	var theirs ends
	defer theirs.close()
	above := func(fd int) int {
		if fd >= 0 && err == nil {
			if fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, aboveStreams); err == nil {
				theirs = append(theirs, fd)
			}
		}
		return fd
	}
	their, moves := above(table), above(waited)
	if err == nil {
		g.process, err = direct.BeginGuard(their, moves, patience)
	}
	if err != nil {
		unix.Close(table)
		return nil, fmt.Errorf("its mounts cannot be watched: %w", err)
	}
	return g, nil
}

// end ends one, and says whether it was by it that we went on, and all is well:
// then we stop again.
func (g *guard) end(b *sandbox) bool {
	if g == nil {
		return false
	}
	defer unix.Close(g.table)
	if !g.process.End() {
		return false
	}
	if err := b.lookAtMounts(&mountWatch{table: g.table}); err != nil {
		b.lose(err)
		return false
	}
	return true
}
