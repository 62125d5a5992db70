package written

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lockName = "written.lock"
	// maxKept is from how many folders on those that are gone are forgotten.
	maxKept = 1024
	// patience bounds the wait for another start, which has the lock for less
	// than a millisecond.
	patience = 10 * time.Second
)

// Keep writes down that a program is about to write folders, in the record of
// dir, the sandbox's part of the settings folder. known is the record as it was
// read; where all of them are in it nothing is done.
func Keep(dir string, known Folders, paths []string) error {
	if _, more := known.with(paths, time.Time{}); !more {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	lock, err := os.OpenFile(dir+"/"+lockName, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	defer lock.Close()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR || time.Now().After(deadline) {
			return fmt.Errorf("settings: %s: %w", lockName, err)
		}
	}
	// Others may have added theirs.
	all, err := Load(dir)
	if err != nil {
		return err
	}
	all, more := all.with(paths, time.Now())
	if !more {
		return nil
	}
	if len(all) > maxKept {
		all = slices.DeleteFunc(all, func(f Folder) bool {
			_, err := os.Lstat(f.Path)
			return errors.Is(err, os.ErrNotExist)
		})
	}
	return save(dir, all)
}

// Load reads the record of dir; one that is not there is empty.
func Load(dir string) (Folders, error) {
	f, err := os.OpenFile(dir+"/"+Name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(text) > MaxBytes {
		err = errors.New("too long")
	}
	if err != nil {
		return nil, fmt.Errorf("settings: %s: %w", Name, err)
	}
	return Read(string(text))
}

func save(dir string, all Folders) error {
	text, err := all.text()
	if err != nil {
		return fmt.Errorf("settings: %s: %w", Name, err)
	}
	if err := KeepFile(dir+"/"+Name, text); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

// KeepFile writes a file of the settings folder whole or not at all, 0600, in a
// folder that it makes 0700.
func KeepFile(path, text string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
