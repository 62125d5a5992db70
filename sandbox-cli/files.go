package cli

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// writeFiles writes what the chain's argv names and must not hold itself: each
// 0600 in 0700 folders, whole or not at all.
func (c chain) writeFiles() error {
	for _, path := range slices.Sorted(maps.Keys(c.files)) {
		sweepUnused(filepath.Dir(path), time.Now())
		if err := writeWhole(path, c.files[path]); err != nil {
			return settingsError(err)
		}
	}
	return nil
}

// removeFiles removes them again.
func (c chain) removeFiles() {
	for path := range c.files {
		os.Remove(path)
	}
}

// writeWhole writes to a temporary name beside path and renames it.
func writeWhole(path, text string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
