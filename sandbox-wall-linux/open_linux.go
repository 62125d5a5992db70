package linuxwall

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrChanged is that something was swapped between looking at it and opening
// it. Trying again is safe.
var ErrChanged = errors.New("changed since it was looked at")

// Opened are the descriptors that bubblewrap gets for a plan, close on exec.
type Opened struct{ files []*os.File }

// Open opens what a plan binds, each as the very file that the plan was made
// for, and puts the texts it tells into files of memory. What is bound stays
// that file, whatever stands at its path afterwards.
func Open(p *Plan) (*Opened, error) {
	o := &Opened{}
	for _, s := range p.Steps {
		if !s.Opened() {
			if err := s.stands(false); err != nil {
				o.Close()
				return nil, err
			}
			continue
		}
		fd, err := s.open()
		if err != nil {
			o.Close()
			return nil, &Refusal{Member: s.Because.Member, Path: s.openedPath(), Why: err.Error(), Err: err}
		}
		o.files = append(o.files, os.NewFile(uintptr(fd), s.openedPath()))
	}
	return o, nil
}

// Stale says which of what a plan mounts, or covers, is no longer the very file
// that it was made for; it wraps [ErrChanged].
func (p *Plan) Stale() error {
	for _, s := range p.Steps {
		if err := s.stands(true); err != nil {
			return err
		}
	}
	return nil
}

// stands looks again at what a step binds or covers. bubblewrap has no mount
// point for what is gone, as a lock file of /etc that only root may read can be
// any moment. What stands there anew is as good to cover, unless exact.
func (s Step) stands(exact bool) error {
	at := s.At
	switch {
	case s.binds():
		at = s.From
	case s.Verb != Close && s.Verb != CloseFile || s.Is.Kind == Missing || s.Is.Kind == Unseen || s.At == keysTable:
		return nil
	}
	n := lstat(at)
	anew := !n.same(s.Is) || !s.binds() && n.Changed != s.Is.Changed
	if n.Kind != s.Is.Kind || anew && (exact || s.binds()) {
		return &Refusal{Member: s.Because.Member, Path: at, Why: ErrChanged.Error(), Err: ErrChanged}
	}
	return nil
}

// Files gives them in the order of [Plan.BwrapArgs].
func (o *Opened) Files() []*os.File { return o.files }

// Close closes them.
func (o *Opened) Close() {
	for _, f := range o.files {
		f.Close()
	}
	o.files = nil
}

func (s Step) openedPath() string {
	if s.binds() {
		return s.From
	}
	return s.At
}

func (s Step) open() (int, error) {
	if !s.binds() {
		return memory(s.Text)
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, s.From, &how)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP:
		return -1, fmt.Errorf("%w: %w", ErrChanged, err)
	case unix.ENOSYS:
		return -1, fmt.Errorf("this kernel has no openat2, 5.6 or later is needed: %w", errors.ErrUnsupported)
	case unix.EMFILE, unix.ENFILE:
		return -1, fmt.Errorf("too many paths for the limit on open files, raise it (ulimit -n): %w", err)
	default:
		return -1, err
	}
	var st unix.Stat_t
	n := nodeOf(&st, unix.Fstat(fd, &st), s.From)
	if !n.same(s.Is) {
		unix.Close(fd)
		return -1, ErrChanged
	}
	return fd, nil
}

// memory gives a file that holds a text and nothing else, read from its start.
func memory(text string) (int, error) {
	fd, err := unix.MemfdCreate("lnk-sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	// Offset 0 stays where bubblewrap starts to read.
	for done := 0; done < len(text); {
		n, err := unix.Pwrite(fd, []byte(text[done:]), int64(done))
		if err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("memfd: %w", err)
		}
		done += n
	}
	return fd, nil
}
