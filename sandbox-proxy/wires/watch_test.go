package wires_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/wires"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait. Nothing is measured by it.
const patience = 20 * time.Second

// put writes a file, making its folders.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func settings(t *testing.T) client.SettingsFolder {
	return client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
}

func TestOf(t *testing.T) {
	s := settings(t)
	if w := wires.Of(s, "web")(); w.Stopped || w.Paused {
		t.Errorf("no settings: %+v", w)
	}
	paused, _ := s.Paused("web")
	put(t, paused, "too much\n")
	if w := wires.Of(s, "web")(); w.Stopped || !w.Paused || w.Why != "too much" {
		t.Errorf("paused: %+v", w)
	}
	if w := wires.Of(s, "other")(); w.Stopped || w.Paused {
		t.Errorf("another: %+v", w)
	}
	put(t, s.Stopped(), "")
	for _, name := range []string{"web", "other"} {
		if w := wires.Of(s, name)(); !w.Stopped {
			t.Errorf("stopped: %s: %+v", name, w)
		}
	}
}

// What cannot be read is a stop, and the program learns no path of it.
func TestUnreadableIsAStop(t *testing.T) {
	s := settings(t)
	put(t, string(s), "not a folder")
	if w := wires.Of(s, "web")(); !w.Stopped || w.Why != "what the owner says of it cannot be read" {
		t.Errorf("%+v", w)
	}
	s = settings(t)
	flag, _ := s.Paused("web")
	put(t, filepath.Join(flag, "x"), "") // a folder in a flag's place
	if w := wires.Of(s, "web")(); !w.Stopped {
		t.Errorf("%+v", w)
	}
	if w := wires.Of(s, "no/name")(); !w.Stopped {
		t.Errorf("a sandbox that is none: %+v", w)
	}
}

// seen waits until the wire is read as it should be.
func seen(t *testing.T, s client.SettingsFolder, looks <-chan struct{}, want func() bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case <-looks:
			if want() {
				return
			}
		case <-limit:
			t.Fatal("nothing was told in time")
		}
	}
}

// Every way that a flag comes and goes is told of, also where the folders are
// made only then, moved away, or taken away and made again.
func TestWatch(t *testing.T) {
	s := settings(t)
	looks := make(chan struct{}, 1024)
	w := wires.Watch(s, func() {
		select {
		case looks <- struct{}{}:
		default:
		}
	})
	defer w.Close()
	stopped := func() bool { return wires.Of(s, "web")().Stopped }
	paused := func() bool { return wires.Of(s, "web")().Paused }
	open := func() bool { w := wires.Of(s, "web")(); return !w.Stopped && !w.Paused }
	flag, _ := s.Paused("web")
	for _, step := range []struct {
		name string
		do   func() error
		want func() bool
	}{
		{"at first", func() error { return nil }, open},
		{"stopped with all its folders", func() error { put(t, s.Stopped(), ""); return nil }, stopped},
		{"started", func() error { return os.Remove(s.Stopped()) }, open},
		{"paused", func() error { put(t, flag, ""); return nil }, paused},
		{"stopped too", func() error { put(t, s.Stopped(), ""); return nil }, stopped},
		{"all gone", func() error { return os.RemoveAll(string(s)) }, open},
		{"paused again", func() error { put(t, flag, "x"); return nil }, paused},
		{"moved away", func() error { return os.Rename(s.Sandbox(), s.Sandbox()+"-old") }, open},
		{"moved back", func() error { return os.Rename(s.Sandbox()+"-old", s.Sandbox()) }, paused},
		{"renamed into place", func() error { put(t, s.Stopped()+".new", ""); return os.Rename(s.Stopped()+".new", s.Stopped()) }, stopped},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		t.Log(step.name)
		seen(t, s, looks, step.want)
	}
}

// Watching makes nothing, not even a folder.
func TestWatchCreatesNothing(t *testing.T) {
	s := settings(t)
	looks := make(chan struct{}, 1024)
	w := wires.Watch(s, func() {
		select {
		case looks <- struct{}{}:
		default:
		}
	})
	seen(t, s, looks, func() bool { return true })
	w.Close()
	if _, err := os.Lstat(string(s)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the settings folder: %v", err)
	}
}

// Where there is no watch to be had, flags are looked at instead, and that
// needs no descriptor: who has run out of them is neither stopped nor open.
func TestWithoutDescriptors(t *testing.T) {
	s := settings(t)
	flag, _ := s.Paused("web")
	put(t, flag, "why")
	looks := make(chan struct{}, 1024)
	restore := exhaust(t)
	w := wires.Watch(s, func() {
		select {
		case looks <- struct{}{}:
		default:
		}
	})
	defer w.Close()
	<-looks // it has found that it can watch nothing
	paused, open := wires.Of(s, "web")(), wires.Of(s, "other")()
	restore()
	if !paused.Paused || paused.Stopped || open.Paused || open.Stopped {
		t.Errorf("without descriptors: %+v, %+v", paused, open)
	}
	put(t, s.Stopped(), "")
	seen(t, s, looks, func() bool { return wires.Of(s, "web")().Stopped })
}

// exhaust leaves this process no descriptor until restore is called.
func exhaust(t *testing.T) (restore func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	now := was
	now.Cur = uint64(f.Fd()) // the lowest that was free: none is below it
	f.Close()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
	}
}
