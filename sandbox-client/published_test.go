package client_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

func record(pid int, sandbox string) string {
	return fmt.Sprintf(`{"pid":%d,"sandbox":%q,"up":1,"down":2}`+"\n", pid, sandbox)
}

func TestReadTrafficFrom(t *testing.T) {
	s := client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
	started := func(pid int) (string, error) {
		switch pid {
		case 7, 70, 8:
			return "now", nil
		}
		return "", fs.ErrNotExist
	}
	if list, err := client.ReadTrafficFrom(s, started); err != nil || len(list) != 0 || list == nil {
		t.Errorf("nothing published: %v (%v)", list, err)
	}
	put(t, s, map[string]string{
		"traffic/70-now.json":      record(70, "web"),
		"traffic/7-now.json":       record(7, "run-7"),
		"traffic/8-then.json":      record(8, "reused"),
		"traffic/9-now.json":       record(9, "gone"),
		"traffic/.7-now.json.tmp":  `{"pid":`,
		"traffic/7-now.json.old":   `{"pid":`,
		"traffic/not-a-record":     "x",
		"traffic/subfolder/x.json": "x",
	})
	before := listing(t, string(s))
	list, err := client.ReadTrafficFrom(s, started)
	want := []measure.Traffic{{PID: 7, Sandbox: "run-7", Up: 1, Down: 2}, {PID: 70, Sandbox: "web", Up: 1, Down: 2}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("read %+v (%v)", list, err)
	}
	if after := listing(t, string(s)); !reflect.DeepEqual(before, after) {
		t.Errorf("reading made %v of %v", after, before)
	}
}

func TestTrafficUnavailable(t *testing.T) {
	now := func(int) (string, error) { return "now", nil }
	for name, c := range map[string]struct {
		files   map[string]string
		started func(int) (string, error)
	}{
		"a folder that is a file":   {map[string]string{"traffic": ""}, now},
		"a record cut off":          {map[string]string{"traffic/7-now.json": `{"pid":7`}, now},
		"a record of another":       {map[string]string{"traffic/7-now.json": record(8, "web")}, now},
		"a record that is a folder": {map[string]string{"traffic/7-now.json/": ""}, now},
		"a process that cannot be looked at": {map[string]string{"traffic/7-now.json": record(7, "web")}, func(int) (string, error) {
			return "", errors.New("no /proc here")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
			put(t, s, c.files)
			if list, err := client.ReadTrafficFrom(s, c.started); !errors.Is(err, client.ErrUnavailable) {
				t.Errorf("read %+v (%v)", list, err)
			}
		})
	}
}

// This process's own record is read, an earlier one's with its id is not.
func TestTrafficNow(t *testing.T) {
	s := client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
	t.Setenv(client.HomeVariable, string(s))
	pid := os.Getpid()
	start, err := client.StartMarker(pid)
	if err != nil {
		t.Fatal(err)
	}
	path, err := s.Traffic(pid, start)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, map[string]string{
		"traffic/" + filepath.Base(path):                record(pid, "mine"),
		"traffic/" + measure.RecordName(pid, "0x0"):     record(pid, "earlier"),
		"traffic/" + measure.RecordName(1<<30, "1x1"):   record(1<<30, "none"),
		"traffic/" + measure.RecordName(1<<30, start):   record(1<<30, "none"),
		"traffic/" + measure.RecordName(pid, start+"0"): record(pid, "longer"),
	})
	list, err := client.TrafficNow()
	if err != nil || len(list) != 1 || list[0].Sandbox != "mine" {
		t.Errorf("read %+v (%v)", list, err)
	}
}

func TestStartMarker(t *testing.T) {
	mine, err := client.StartMarker(os.Getpid())
	again, err2 := client.StartMarker(os.Getpid())
	if err != nil || err2 != nil || mine == "" || mine != again {
		t.Fatalf("mine is %q (%v), then %q (%v)", mine, err, again, err2)
	}
	if _, _, ok := measure.ParseRecordName(measure.RecordName(1, mine)); !ok {
		t.Errorf("%q cannot be part of a record's name", mine)
	}
	for _, pid := range []int{0, -1} {
		if m, err := client.StartMarker(pid); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("process %d: %q (%v)", pid, m, err)
		}
	}
	// A process that has ended is not there, also while nobody has asked for
	// its end; one that started later has another marker.
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), playVariable+"=wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if m, err := client.StartMarker(pid); err != nil || m == mine {
		t.Errorf("a child's is %q (%v), mine %q", m, err, mine)
	}
	in.Close()
	if _, err := out.Read(make([]byte, 1)); err == nil { // ends when the child does
		t.Error("the child talks")
	}
	// Its pipe closes a moment before it is gone.
	for patience := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(patience); {
		_, err = client.StartMarker(pid)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a process that has ended, not yet waited for: %v", err)
	}
	cmd.Wait()
	if m, err := client.StartMarker(pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a process that is gone: %q (%v)", m, err)
	}
}
