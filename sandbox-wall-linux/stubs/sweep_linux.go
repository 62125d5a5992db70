package stubs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Sweep removes what killed runs left. It costs a look into one folder when
// there is nothing.
func (s *Store) Sweep() (Report, error) {
	dir, err := unix.Open(s.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return Report{}, nil
	}
	if err != nil {
		return Report{}, s.broken("", err)
	}
	names, err := recordNames(dir)
	unix.Close(dir)
	if err != nil {
		return Report{}, s.broken("", err)
	}
	if len(names) == 0 {
		return Report{}, nil
	}
	o, err := s.reopen()
	if err != nil || o == nil {
		return Report{}, err
	}
	defer o.close()
	runs, err := o.runs("")
	if err != nil {
		return Report{}, err
	}
	defer closeRuns(runs)
	return o.sweep(runs), nil
}

// sweep removes the stubs of dead runs that no live one needs, then their
// records.
func (o *opened) sweep(runs []*run) Report {
	var r Report
	need := listed(runs)
	for _, dead := range runs {
		if dead.live {
			continue
		}
		for _, e := range dead.entries {
			r.note(e.Path, sweepOne(e, need[e.Path]))
		}
		// A record that cannot be removed is swept again, to no effect.
		_ = unix.Unlinkat(o.dir, dead.name, 0)
	}
	return r
}

func sweepOne(e entry, need bool) fate {
	folder, _, err := openFolder(e.Path, e.In)
	if errors.Is(err, unix.ENOENT) {
		return gone // with its folder, or moved away with it
	}
	if err != nil {
		return lost
	}
	defer unix.Close(folder)
	if !need {
		return remove(folder, e)
	}
	fd, f := look(folder, e)
	if f == needed {
		unix.Close(fd)
	}
	return f
}

// Await waits until a run has ended, its owner and its sandbox both, and
// removes what it left if it was killed. It is for a process that does nothing
// else: one that gives up by ctx leaves a thread waiting.
func (s *Store) Await(ctx context.Context, record string) (Report, error) {
	if strings.ContainsRune(record, '/') || !strings.HasSuffix(record, recordSuffix) {
		return Report{}, fmt.Errorf("stubs: %q: names no record", record)
	}
	dir, err := unix.Open(s.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return Report{}, nil // removed, and the record with it
	}
	if err != nil {
		return Report{}, s.broken("", err)
	}
	fd, err := unix.Openat(dir, record, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	unix.Close(dir)
	if errors.Is(err, unix.ENOENT) {
		return Report{}, nil // released
	}
	if err != nil {
		return Report{}, s.broken(record, err)
	}
	f := os.NewFile(uintptr(fd), record)
	ended := make(chan error, 1)
	go func() {
		err := unix.Flock(fd, unix.LOCK_EX)
		for err == unix.EINTR {
			err = unix.Flock(fd, unix.LOCK_EX)
		}
		ended <- err
		if ctx.Err() != nil {
			f.Close() // nobody else does
		}
	}()
	select {
	case <-ctx.Done():
		return Report{}, ctx.Err()
	case err := <-ended:
		defer f.Close()
		if err != nil {
			return Report{}, s.broken(record, err)
		}
	}
	return s.end(record, f)
}

// end sweeps a dead run whose lock the caller has.
func (s *Store) end(record string, f *os.File) (Report, error) {
	o, err := s.reopen()
	if err != nil || o == nil {
		return Report{}, err
	}
	defer o.close()
	var named, is unix.Stat_t
	if unix.Fstatat(o.dir, record, &named, unix.AT_SYMLINK_NOFOLLOW) != nil ||
		unix.Fstat(int(f.Fd()), &is) != nil || nodeOf(&named) != nodeOf(&is) {
		return Report{}, nil // released
	}
	runs, err := o.runs(record)
	if err != nil {
		return Report{}, err
	}
	defer closeRuns(runs)
	dead := &run{name: record, file: f}
	if err := dead.readEntries(); err != nil {
		return Report{}, s.broken(record, err)
	}
	return o.sweep(append(runs, dead)), nil
}
