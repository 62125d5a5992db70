package journal

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// maxFile is how large a file gets before it is moved: the first time to
	// firstSuffix, where it stays, so that what came first is not written away
	// by what comes after; from then on to oldSuffix.
	maxFile = 2 << 20
	// maxLogs is how many sandboxes' files are kept, running ones apart.
	maxLogs = 64

	suffix      = ".jsonl"
	firstSuffix = ".0"
	oldSuffix   = ".1"
)

// A file is one log that is written to. Several processes may: each line is one
// append, and who moves or removes files holds the folder's lock.
type file struct {
	path string
	f    *os.File
	torn bool // a line was written in part
}

func (l *file) write(b []byte) error {
	if err := l.ready(); err != nil {
		return err
	}
	if l.torn {
		b = append([]byte("\n"), b...)
	}
	n, err := l.f.Write(b)
	if n > 0 {
		l.torn = n < len(b)
	}
	if err != nil {
		l.close()
	}
	return err
}

// ready opens the file, and moves one that is large.
func (l *file) ready() error {
	if l.f != nil {
		if info, err := l.f.Stat(); err == nil && info.Size() < maxFile {
			return nil
		}
		l.rotate()
		l.close()
	}
	return l.open()
}

func (l *file) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	unlock := lockFolder(filepath.Dir(l.path))
	defer unlock()
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: l.path, Err: errors.New("not a file")}
	}
	if err != nil {
		f.Close()
		return err
	}
	// Held while it is written to, so that sweep leaves it.
	syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	l.f = f
	if info.Size() == 0 {
		sweep(filepath.Dir(l.path))
	}
	return nil
}

// rotate moves the file away, unless another process has.
func (l *file) rotate() {
	unlock := lockFolder(filepath.Dir(l.path))
	defer unlock()
	mine, err := l.f.Stat()
	now, nowErr := os.Lstat(l.path)
	if err == nil && nowErr == nil && os.SameFile(mine, now) && now.Size() >= maxFile {
		if _, err := os.Lstat(l.path + firstSuffix); errors.Is(err, fs.ErrNotExist) {
			os.Rename(l.path, l.path+firstSuffix)
			return
		}
		os.Rename(l.path, l.path+oldSuffix)
	}
}

func (l *file) close() {
	if l.f != nil {
		l.f.Close()
		l.f = nil
	}
}

// lockTime bounds the wait for another process that moves files.
const lockTime = time.Second

// lockFolder keeps other processes from moving files. Where that cannot be had
// the worst is a lost file of lines.
func lockFolder(dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for limit := time.Now().Add(lockTime); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EWOULDBLOCK {
			break
		}
	}
	return func() { d.Close() }
}

// sweep removes the oldest logs that nobody writes to. The folder's lock is
// held.
func sweep(dir string) {
	type log struct {
		path string
		at   time.Time
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= maxLogs {
		return
	}
	var logs []log
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), suffix) {
			logs = append(logs, log{filepath.Join(dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(logs, func(a, b log) int { return cmp.Compare(b.at.UnixNano(), a.at.UnixNano()) })
	for _, old := range logs[min(len(logs), maxLogs):] {
		f, err := os.OpenFile(old.path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.Remove(old.path)
			os.Remove(old.path + firstSuffix)
			os.Remove(old.path + oldSuffix)
		}
		f.Close()
	}
}
