package traffic

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

const besidePrefix, besideSuffix = ".", ".new"

// besideName is where a record is written before it is moved to its place.
func besideName(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, besidePrefix+name+besideSuffix)
}

// Sweep removes the records of processes that are gone, as started tells (see
// [client.StartMarker]). One that cannot be told stays, and so does whatever
// is no record.
func Sweep(s client.SettingsFolder, started func(pid int) (string, error)) error {
	entries, err := os.ReadDir(s.TrafficFolder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []error
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimPrefix(e.Name(), besidePrefix), besideSuffix)
		pid, start, ok := measure.ParseRecordName(name)
		if !ok {
			continue
		}
		now, err := started(pid)
		if errors.Is(err, fs.ErrNotExist) || err == nil && now != start {
			if err := os.Remove(filepath.Join(s.TrafficFolder(), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				all = append(all, err)
			}
		}
	}
	return errors.Join(append(all, err)...)
}
