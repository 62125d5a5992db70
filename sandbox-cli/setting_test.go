package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A home folder that is none is told of in one line, and not made; one that
// nobody can make, as a daemon's user has it, is no fault of a run's.
func TestHomeHoldsSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing/deep")
	t.Setenv("LNK_HOME", "")
	homes := map[string]string{
		dir:            "",
		file:           "is no folder: set HOME",
		file + "/home": "is no folder: set HOME",
		missing:        "is not there, and is not made: make it",
	}
	if os.Getuid() != 0 { // who may make everything
		homes["/nobody/makes/this"] = ""
	}
	for home, says := range homes {
		t.Setenv("HOME", home)
		for what, ask := range map[string]func() error{
			"run":  func() error { _, err := readSetting(); return err },
			"stop": func() error { _, err := settings(); return err },
		} {
			err := ask()
			if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), home)) {
				t.Errorf("%s with HOME=%s: %v, want %q", what, home, err, says)
			}
		}
	}
	if _, err := os.Stat(filepath.Dir(missing)); err == nil {
		t.Error("a home that is not there was made")
	}
	t.Setenv("LNK_HOME", filepath.Join(dir, "settings"))
	t.Setenv("HOME", missing)
	if _, err := readSetting(); err != nil {
		t.Errorf("settings of their own: %v", err)
	}
}

func TestProcAdvice(t *testing.T) {
	if got := procAdvice(os.Lstat); got != "" {
		t.Errorf("%q with a /proc", got)
	}
	if got := procAdvice(func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist }); !strings.Contains(got, "mount -t proc") {
		t.Errorf("%q without one", got)
	}
}
