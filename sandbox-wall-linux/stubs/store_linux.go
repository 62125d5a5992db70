package stubs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Store is where runs write down which stubs they made: a folder of its
// user's alone, which the sandbox never sees.
type Store struct{ dir string }

// NewStore names the folder; nothing is made before it is needed.
func NewStore(dir string) *Store { return &Store{dir} }

const (
	lockName     = "lock"
	recordSuffix = ".run"

	// lockPatience bounds the wait for other runs. One holds the lock for well
	// under a millisecond a stub; hundreds that start at once on a busy
	// machine wait for each other.
	lockPatience = time.Minute
	// inTurn is from when on a wait is the kernel's, which serves in order:
	// who only tries now and then is overtaken for ever.
	inTurn = 4 * time.Millisecond
)

// An opened store is held by one process at a time.
type opened struct {
	store *Store
	dir   int
	lock  int
}

// open makes the store if need be and locks it.
func (s *Store) open() (*opened, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, s.broken("", err)
	}
	return s.lock(unix.O_CREAT)
}

// reopen locks a store in which something was written down. Nil is one that was
// removed meanwhile, or is being: nothing is made in it.
func (s *Store) reopen() (*opened, error) {
	o, err := s.lock(0)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	return o, err
}

func (s *Store) lock(create int) (*opened, error) {
	dir, err := unix.Open(s.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, s.broken("", err)
	}
	o := &opened{store: s, dir: dir, lock: -1}
	if err := o.own(); err != nil {
		o.close()
		return nil, s.broken("", err)
	}
	o.lock, err = unix.Openat(dir, lockName, unix.O_RDWR|create|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err == nil {
		err = lockWithin(o.lock, lockPatience)
	}
	if err != nil {
		o.close()
		return nil, s.broken(lockName, err)
	}
	return o, nil
}

// broken is err as the store's; a path that it names itself is the better one.
func (s *Store) broken(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) && path.IsAbs(at.Path) {
		return &StoreError{at.Path, s.whose(at.Err)}
	}
	if at != nil {
		err = at.Err
	}
	return &StoreError{path.Join(s.dir, name), s.whose(err)}
}

// whose says of settings that are closed to us that they are somebody else's:
// what sudo runs with the home of who calls it leaves them so.
func (s *Store) whose(err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	settings := path.Dir(path.Dir(s.dir))
	for dir := s.dir; len(dir) >= len(settings); dir = path.Dir(dir) {
		var st unix.Stat_t
		if unix.Lstat(dir, &st) != nil {
			continue
		}
		if me := os.Geteuid(); int(st.Uid) != me {
			return &othersError{err, fmt.Sprintf("%s belongs to user %d, as sudo leaves it: sudo chown -R %d %s", dir, st.Uid, me, settings)}
		}
		break
	}
	return err
}

// own refuses a folder that others could have put records into.
func (o *opened) own() error {
	var st unix.Stat_t
	if err := unix.Fstat(o.dir, &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("belongs to user %d, want %d", st.Uid, os.Geteuid())
	}
	if st.Mode&0o077 != 0 {
		return fmt.Errorf("mode %04o, want 0700", st.Mode&0o7777)
	}
	return nil
}

func (o *opened) close() {
	if o == nil {
		return
	}
	if o.lock >= 0 {
		unix.Close(o.lock)
	}
	unix.Close(o.dir)
}

// lockWithin locks a file exclusively. After a wait that was too long it leaves
// a thread waiting, which whoever gives up then takes along.
func lockWithin(fd int, patience time.Duration) error {
	for begun, wait := time.Now(), 250*time.Microsecond; ; wait *= 2 {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || err != unix.EWOULDBLOCK && err != unix.EINTR {
			return err
		}
		if time.Since(begun) > min(inTurn, patience) {
			break
		}
		time.Sleep(wait)
	}
	// The lock is of the open file, not of the number, which is closed by then.
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	locked := make(chan error, 1)
	go func() {
		err := unix.Flock(own, unix.LOCK_EX)
		for err == unix.EINTR {
			err = unix.Flock(own, unix.LOCK_EX)
		}
		unix.Close(own)
		locked <- err
	}()
	select {
	case err := <-locked:
		return err
	case <-time.After(patience):
		return ErrBusy
	}
}

// A run is a record as it was found. Of a dead one the lock is held.
type run struct {
	name    string
	file    *os.File
	live    bool
	entries []entry
}

// runs reads every record but the one named except.
func (o *opened) runs(except string) ([]*run, error) {
	if o == nil {
		return nil, nil
	}
	names, err := recordNames(o.dir)
	if err != nil {
		return nil, o.store.broken("", err)
	}
	var runs []*run
	for _, name := range names {
		if name == except {
			continue
		}
		r, err := o.read(name)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			closeRuns(runs)
			return nil, o.store.broken(name, err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func (o *opened) read(name string) (*run, error) {
	fd, err := unix.Openat(o.dir, name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	// A FIFO would be read for ever, and another's record is not one of ours.
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() {
		unix.Close(fd)
		return nil, errors.New("is no record of a run of ours: remove it")
	}
	r := &run{name: name, file: os.NewFile(uintptr(fd), name)}
	switch err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
	case unix.EWOULDBLOCK:
		r.live = true
	default:
		r.file.Close()
		return nil, err
	}
	if err := r.readEntries(); err != nil {
		r.file.Close()
		return nil, err
	}
	return r, nil
}

func (r *run) readEntries() error {
	text, err := io.ReadAll(io.LimitReader(r.file, maxRecord))
	if err != nil {
		return err
	}
	r.entries = readEntries(text)
	return nil
}

func closeRuns(runs []*run) {
	for _, r := range runs {
		r.file.Close()
	}
}

// listed is which stubs live runs need.
func listed(runs []*run) map[string]bool {
	need := map[string]bool{}
	for _, r := range runs {
		for _, e := range r.entries {
			need[e.Path] = need[e.Path] || r.live
		}
	}
	return need
}

// create makes a record and locks it, under the store's lock, so that nobody
// sees it without its own.
func (o *opened) create() (name string, f *os.File, err error) {
	// Not crypto/rand, which takes longer to be set up than all else here.
	var random [16]byte
	if n, err := unix.Getrandom(random[:], 0); err != nil || n != len(random) {
		return "", nil, fmt.Errorf("stubs: name a record: %d random bytes: %w", n, err)
	}
	name = hex.EncodeToString(random[:]) + recordSuffix
	fd, err := unix.Openat(o.dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return "", nil, o.store.broken(name, err)
	}
	f = os.NewFile(uintptr(fd), name)
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		o.forget(name, f)
		return "", nil, o.store.broken(name, err)
	}
	return name, f, nil
}

func (o *opened) forget(name string, f *os.File) error {
	defer f.Close()
	if o == nil {
		return nil
	}
	err := unix.Unlinkat(o.dir, name, 0)
	if err == unix.ENOENT { // somebody removed the settings meanwhile
		return nil
	}
	return err
}

// recordNames lists the records of a store without locking it.
func recordNames(dir int) ([]string, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	all, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if strings.HasSuffix(name, recordSuffix) {
			names = append(names, name)
		}
	}
	return names, nil
}
