package stubs

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What stands in the store and is no record of a run is named, and waited for
// by nobody.
func TestStoreHoldsRecordsAlone(t *testing.T) {
	for name, put := range map[string]func(at string) error{
		"a FIFO":   func(at string) error { return unix.Mkfifo(at, 0o600) },
		"a folder": func(at string) error { return os.Mkdir(at, 0o700) },
		"a link":   func(at string) error { return os.Symlink("/etc/passwd", at) },
	} {
		dir := t.TempDir() + "/stubs"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := put(dir + "/zz" + recordSuffix); err != nil {
			t.Fatal(err)
		}
		if _, err := NewStore(dir).Sweep(); err == nil || !strings.Contains(err.Error(), "zz"+recordSuffix) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
