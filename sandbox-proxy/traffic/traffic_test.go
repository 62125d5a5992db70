package traffic_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/traffic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait. Nothing is measured by it.
const patience = 20 * time.Second

func settings(t *testing.T) client.SettingsFolder {
	return client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
}

// until waits until what is published is as it should be.
func until(t *testing.T, s client.SettingsFolder, want func([]measure.Traffic) bool) {
	t.Helper()
	var list []measure.Traffic
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		var err error
		if list, err = client.ReadTrafficFrom(s, client.StartMarker); err != nil {
			t.Fatal(err)
		}
		if want(list) {
			return
		}
	}
	t.Fatalf("published in the end: %+v", list)
}

func TestPublish(t *testing.T) {
	s := settings(t)
	var up, down atomic.Uint64
	var used atomic.Pointer[measure.Tokens]
	p := traffic.Publish(s, "web", func() measure.Traffic {
		return measure.Traffic{Up: up.Load(), Down: down.Load(), Tokens: used.Load()}
	}, func(err error) { t.Error(err) })
	is := func(wantUp, wantDown uint64) func([]measure.Traffic) bool {
		return func(l []measure.Traffic) bool {
			return len(l) == 1 && l[0].PID == os.Getpid() && l[0].Sandbox == "web" && l[0].Up == wantUp && l[0].Down == wantDown
		}
	}
	until(t, s, is(0, 0)) // before anything is carried
	up.Store(7)
	down.Store(1 << 40)
	until(t, s, is(7, 1<<40))
	used.Store(&measure.Tokens{Requests: 3, Input: 20}) // with no more bytes
	until(t, s, func(l []measure.Traffic) bool { return len(l) == 1 && l[0].Tokens != nil && l[0].Tokens.Input == 20 })
	start, _ := client.StartMarker(os.Getpid())
	path, _ := s.Traffic(os.Getpid(), start)
	for name, want := range map[string]fs.FileMode{path: 0o600, s.TrafficFolder(): 0o700 | fs.ModeDir, string(s): 0o700 | fs.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	p.Close()
	p.Close()
	if left, err := os.ReadDir(s.TrafficFolder()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Where nothing can be written, that is told once and nothing else happens.
func TestPublishNowhere(t *testing.T) {
	s := settings(t)
	if err := os.WriteFile(string(s), nil, 0o600); err != nil { // a file in the folder's place: root is refused too
		t.Fatal(err)
	}
	told := make(chan error, 16)
	var up atomic.Uint64
	p := traffic.Publish(s, "web", func() measure.Traffic { return measure.Traffic{Up: up.Add(1)} }, func(err error) { told <- err })
	select {
	case <-told:
	case <-time.After(patience):
		t.Fatal("nothing is told")
	}
	// Once the way is free it is published after all.
	if err := os.Remove(string(s)); err != nil {
		t.Fatal(err)
	}
	until(t, s, func(l []measure.Traffic) bool { return len(l) == 1 })
	p.Close()
	if len(told) != 0 {
		t.Errorf("told again: %v", <-told)
	}
}

func TestSweep(t *testing.T) {
	s := settings(t)
	if err := os.MkdirAll(s.TrafficFolder(), 0o700); err != nil {
		t.Fatal(err)
	}
	stays := map[string]bool{
		"10-a.json": true, ".10-a.json.new": true, // runs
		"10-b.json": false, ".10-b.json.new": false, // a process before it, with its id
		"11-a.json": false, ".11-a.json.new": false, // gone
		"12-a.json": true, // cannot be told
		"notes.txt": true, "10.json": true,
	}
	for name := range stays {
		if err := os.WriteFile(filepath.Join(s.TrafficFolder(), name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := traffic.Sweep(s, func(pid int) (string, error) {
		switch pid {
		case 10:
			return "a", nil
		case 11:
			return "", fs.ErrNotExist
		}
		return "", errors.New("not now")
	})
	if err != nil {
		t.Error(err)
	}
	for name, want := range stays {
		if _, err := os.Stat(filepath.Join(s.TrafficFolder(), name)); (err == nil) != want {
			t.Errorf("%s stays: %v, want %v", name, err == nil, want)
		}
	}
	if err := traffic.Sweep(settings(t), client.StartMarker); err != nil {
		t.Errorf("no settings: %v", err)
	}
}
