package front

import (
	"errors"
	"strings"
	"testing"
)

// Where lnk cannot tell its own folder, as without a /proc, it says so and what
// to do about it, and not only that there is no plugin.
func TestWithoutOwnFolder(t *testing.T) {
	was := own
	defer func() { own = was }()
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct {
		own  func() (string, error)
		says string
	}{
		{func() (string, error) { return "", errors.New("readlink /proc/self/exe: no such file") }, "mount -t proc proc /proc"},
		{func() (string, error) { return t.TempDir() + "/lnk", nil }, "neither beside lnk nor on PATH"},
	} {
		own = c.own
		if _, err := find("sandbox"); !errors.Is(err, ErrNoPlugin) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}
