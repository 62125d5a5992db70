package client

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
)

// TrafficNow reads what the proxies that run now have carried, from the
// settings folder of this process.
func TrafficNow() ([]measure.Traffic, error) {
	s, err := Settings()
	if err != nil {
		return nil, errors.Join(ErrUnavailable, err)
	}
	return ReadTrafficFrom(s, StartMarker)
}

// ReadTrafficFrom reads the records that proxies publish, by process id. A
// record whose process is gone, or is a later one with its id, as started
// tells (see [StartMarker]), is left out and left there: reading changes
// nothing. One that cannot be read is [ErrUnavailable].
func ReadTrafficFrom(s SettingsFolder, started func(pid int) (string, error)) ([]measure.Traffic, error) {
	entries, err := os.ReadDir(s.TrafficFolder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	list := []measure.Traffic{}
	for _, e := range entries {
		pid, start, ok := measure.ParseRecordName(e.Name())
		if !ok {
			continue
		}
		switch now, err := started(pid); {
		case errors.Is(err, fs.ErrNotExist), err == nil && now != start:
			continue
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		t, there, err := readRecord(filepath.Join(s.TrafficFolder(), e.Name()), pid)
		if err != nil {
			return nil, err
		}
		if there {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b measure.Traffic) int { return cmp.Compare(a.PID, b.PID) })
	return list, nil
}

// readRecord reads one record, which its name says the process of. One that
// went away meanwhile is not there.
func readRecord(path string, pid int) (t measure.Traffic, there bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return t, false, nil
	}
	if err != nil {
		return t, false, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return t, false, fmt.Errorf("%w: %s: not a file", ErrUnavailable, path)
	}
	t, err = ReadTrafficRecord(f)
	if err == nil && t.PID != pid {
		err = fmt.Errorf("it is of process %d", t.PID)
	}
	if err != nil {
		return measure.Traffic{}, false, fmt.Errorf("%w: %s: %w", ErrUnavailable, path, err)
	}
	return t, true, nil
}
