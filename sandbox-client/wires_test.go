package client_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// put writes files below the settings folder of a test; a name that ends in a
// slash is a folder.
func put(t *testing.T, s client.SettingsFolder, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(s.Sandbox(), name)
		dir := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if dir != path {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// listing is every name below a folder.
func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}

func TestReadWiresFrom(t *testing.T) {
	type paused = map[string]string
	for _, c := range []struct {
		name    string
		files   map[string]string
		stopped bool
		paused  paused
	}{
		{"no settings", nil, false, paused{}},
		{"no wires", map[string]string{"tools/": ""}, false, paused{}},
		{"none paused", map[string]string{"wires/paused/": ""}, false, paused{}},
		{"stopped", map[string]string{"wires/stopped": ""}, true, paused{}},
		{"stopped by a folder", map[string]string{"wires/stopped/": ""}, true, paused{}},
		{"paused", map[string]string{"wires/paused/web": "too much\n", "wires/paused/ann-codex": ""}, false, paused{"web": "too much", "ann-codex": ""}},
		{"both", map[string]string{"wires/stopped": "", "wires/paused/web": "x"}, true, paused{"web": "x"}},
		{"a flag being written", map[string]string{"wires/paused/.web-1234": "x", "wires/paused/web": "y"}, false, paused{"web": "y"}},
		{"what no sandbox is called", map[string]string{"wires/paused/a b": "x"}, false, paused{}},
		{"a long reason", map[string]string{"wires/paused/web": strings.Repeat("a", 5000)}, false, paused{"web": strings.Repeat("a", 4096)}},
		{"a reason that is no text", map[string]string{"wires/paused/web": "a\xff\x00b"}, false, paused{"web": "ab"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
			put(t, s, c.files)
			before := listing(t, string(s))
			w, err := client.ReadWiresFrom(s)
			if err != nil {
				t.Fatal(err)
			}
			got := paused{}
			for _, p := range w.Paused {
				got[p.Sandbox] = p.Why
			}
			if w.Stopped != c.stopped || !reflect.DeepEqual(got, c.paused) || w.Paused == nil {
				t.Errorf("read %+v", w)
			}
			if err := w.Check(); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
			why, there := got["web"]
			if one, err := client.ReadWireFrom(s, "web"); err != nil || one.Stopped != c.stopped || !c.stopped && (one.Paused != there || one.Why != why) {
				t.Errorf("of one sandbox read %+v (%v)", one, err)
			}
			if after := listing(t, string(s)); !reflect.DeepEqual(before, after) {
				t.Errorf("reading made %v of %v", after, before)
			}
		})
	}
}

// What cannot be read is not open.
func TestWiresUnavailable(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, s client.SettingsFolder){
		"the settings are a file": func(t *testing.T, s client.SettingsFolder) {
			if err := os.WriteFile(string(s), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"the wires are a file":  func(t *testing.T, s client.SettingsFolder) { put(t, s, map[string]string{"wires": ""}) },
		"the paused are a file": func(t *testing.T, s client.SettingsFolder) { put(t, s, map[string]string{"wires/paused": ""}) },
		"a flag is a folder":    func(t *testing.T, s client.SettingsFolder) { put(t, s, map[string]string{"wires/paused/web/": ""}) },
		"a flag is a link": func(t *testing.T, s client.SettingsFolder) {
			put(t, s, map[string]string{"wires/paused/": "", "other": "text"})
			if err := os.Symlink(filepath.Join(s.Sandbox(), "other"), filepath.Join(s.PausedFolder(), "web")); err != nil {
				t.Fatal(err)
			}
		},
		"a flag is a pipe": func(t *testing.T, s client.SettingsFolder) {
			put(t, s, map[string]string{"wires/paused/": ""})
			if err := syscall.Mkfifo(filepath.Join(s.PausedFolder(), "web"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a flag cannot be opened": func(t *testing.T, s client.SettingsFolder) {
			put(t, s, map[string]string{"wires/paused/web": "x"})
			forbid(t, filepath.Join(s.PausedFolder(), "web"))
		},
		"the folder cannot be opened": func(t *testing.T, s client.SettingsFolder) {
			put(t, s, map[string]string{"wires/paused/web": "x"})
			forbid(t, filepath.Join(s.Sandbox(), "wires"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
			spoil(t, s)
			w, err := client.ReadWiresFrom(s)
			if !errors.Is(err, client.ErrUnavailable) {
				t.Errorf("read %+v (%v)", w, err)
			}
			if errors.Is(err, client.ErrRequest) {
				t.Error("nobody requested it")
			}
			if one, err := client.ReadWireFrom(s, "web"); !errors.Is(err, client.ErrUnavailable) {
				t.Errorf("of one sandbox read %+v (%v)", one, err)
			}
		})
	}
}

// forbid takes away what lets a path be opened. Root is let in all the same,
// so for root it makes the path a link to itself, which lets nobody in.
func forbid(t *testing.T, path string) {
	t.Helper()
	if os.Getuid() != 0 {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o700) })
		return
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, path); err != nil {
		t.Fatal(err)
	}
}

func TestWiresNow(t *testing.T) {
	s := client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
	t.Setenv(client.HomeVariable, string(s))
	put(t, s, map[string]string{"wires/stopped": ""})
	if w, err := client.WiresNow(); err != nil || !w.Stopped {
		t.Errorf("read %+v (%v)", w, err)
	}
	t.Setenv(client.HomeVariable, "relative")
	if _, err := client.WiresNow(); !errors.Is(err, client.ErrUnavailable) {
		t.Errorf("no settings folder to speak of: %v", err)
	}
}

// A flag is there whatever it is, a link to nothing too.
func TestStoppedByALink(t *testing.T) {
	s := client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
	put(t, s, map[string]string{"wires/": ""})
	if err := os.Symlink("/nowhere/at/all", s.Stopped()); err != nil {
		t.Fatal(err)
	}
	if w, err := client.ReadWiresFrom(s); err != nil || !w.Stopped {
		t.Errorf("read %+v (%v)", w, err)
	}
}

func TestWireOfNoSandbox(t *testing.T) {
	s := client.SettingsFolder(t.TempDir())
	for _, name := range []string{"", "..", "a/b", "../stopped"} {
		if w, err := client.ReadWireFrom(s, name); !errors.Is(err, client.ErrUnavailable) {
			t.Errorf("%q: read %+v (%v)", name, w, err)
		}
	}
}
