package proxy

import (
	"container/list"
	"context"
	"errors"
	"syscall"
	"time"
)

// A room is how much of everything one proxy may hold: the limits of its own,
// or less where the process may have few descriptors.
type room struct{ calls, waiting, idle int }

// roomIn gives the room that there is in so many descriptors. A call takes two,
// what waits and what is kept for the next request one each: all together they
// leave a quarter for dials, listeners, names, pipes and files.
func roomIn(descriptors uint64) room {
	part := func(most int, of uint64) int { return int(max(1, min(uint64(most), descriptors/of))) }
	return room{calls: part(maxCalls, 4), waiting: part(maxWaiting, 8), idle: part(idleAll, 8)}
}

// descriptors is how many this process may have. Package os has raised that to
// the hard limit (setrlimit(2)) when it started, and gives programs back what
// there was before.
func descriptors() uint64 {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 256 // the least that any system of ours starts with
	}
	return uint64(l.Cur)
}

// noRoom says whether a call came to nothing since too much is open here.
func noRoom(err error) bool {
	return errors.Is(err, errBusy) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// dialPlaces are the calls that are being connected. When there are too many,
// the one that has tried longest is ended: hosts that never answer shut out
// nobody but themselves.
type dialPlaces struct{ list list.List }

// takeDial takes a place, and gives what ends with it, and after dialTime.
func (p *Proxy) takeDial(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(dialTime, func() { cancel(context.DeadlineExceeded) })
	p.mu.Lock()
	place := p.dials.list.PushBack(cancel)
	var longest context.CancelCauseFunc
	if p.dials.list.Len() > maxDials {
		longest = p.dials.list.Remove(p.dials.list.Front()).(context.CancelCauseFunc)
	}
	p.mu.Unlock()
	if longest != nil {
		longest(errBusy)
	}
	return ctx, func() {
		p.mu.Lock()
		p.dials.list.Remove(place) // nothing, where it was taken out already
		p.mu.Unlock()
		late.Stop()
		cancel(nil)
	}
}
