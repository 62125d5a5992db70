package cli

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody writes to is not waited for without end.
func TestSpecOfNobody(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "spec.toml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readSpec(pipe, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), pipe+": is a pipe that nobody has written to its end in 1ms") {
		t.Errorf("%v", err)
	}
}

func TestSpecLies(t *testing.T) {
	for name, want := range map[string][2]string{
		"/a/b/spec.toml":      {"/a/b", "/a/b/spec.toml"},
		"/dev/fd/999999":      {"/cwd", ""},
		"/dev/null":           {"/cwd", ""},
		"/proc/self/../stdin": {"/cwd", ""},
		"/device/spec":        {"/device", "/device/spec"},
	} {
		folder, file, err := (&specFile{name: name}).lies("/cwd")
		if err != nil || folder != want[0] || file != want[1] {
			t.Errorf("%s: %s, %s, %v", name, folder, file, err)
		}
	}
}
