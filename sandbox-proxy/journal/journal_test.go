package journal

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait. Nothing is measured by it.
const patience = 20 * time.Second

func settings(t *testing.T) client.SettingsFolder {
	return client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
}

// lines is a log as a reader that has just begun sees it.
func lines(t *testing.T, s client.SettingsFolder, sandbox string) (all []Line) {
	t.Helper()
	tail, err := NewTail(s, sandbox)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	if err := tail.Read(func(l Line) { all = append(all, l) }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRecord(t *testing.T) {
	s := settings(t)
	j := Open(s, "web", func(err error) { t.Error(err) })
	j.Began()
	j.Record(proxy.Record{
		At: time.Date(2026, 11, 29, 12, 0, 0, 5e6, time.FixedZone("", 3600)), By: judge.ByConnect, Host: "a.test", Port: 443,
		Allowed: true, Address: netip.MustParseAddr("192.0.2.1"), Up: 10, Down: 1 << 40, Took: 1500 * time.Millisecond,
	})
	j.Record(proxy.Record{At: time.Now(), By: judge.ByDNS, Host: "evil\xff\n.test", Reason: judge.Host, Detail: "no rule names this host", Open: judge.Open{Member: "m", Flag: "f"}})
	j.Ended(7)
	j.Close()
	j.Close()
	path, _ := s.Log("web")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written := strings.SplitAfter(string(text), "\n")
	if len(written) != 5 || written[4] != "" {
		t.Fatalf("%d lines: %q", len(written), text)
	}
	if want := `{"at":"2026-11-29T11:00:00.005Z","sandbox":"web","what":"call","by":"connect","host":"a.test","port":443,"allowed":true,"address":"192.0.2.1","up":10,"down":1099511627776,"ms":1500}` + "\n"; written[1] != want {
		t.Errorf("a call:\n%swant\n%s", written[1], want)
	}
	for _, line := range written[:4] {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %q", line)
		}
	}
	read := lines(t, s, "web")
	if len(read) != 4 || read[0].What != Began || read[0].PID != os.Getpid() || read[2].Host != "evil\uFFFD\n.test" || read[2].Open != "m or f" || read[1].Open != "" || *read[3].Status != 7 {
		t.Errorf("read %+v", read)
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700 | fs.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// Nothing that cannot be written holds anybody up: it is told once, and how
// much was lost stands in the log once there is one.
func TestNowhereToWrite(t *testing.T) {
	s := settings(t)
	if err := os.WriteFile(string(s), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 100)
	j := Open(s, "web", func(err error) { told <- err })
	j.again = 0
	const n = 3 * maxQueue
	for range n {
		j.Record(proxy.Record{Host: "a.test"})
	}
	select {
	case <-told:
	case <-time.After(patience):
		t.Fatal("nothing is told")
	}
	if err := os.Remove(string(s)); err != nil {
		t.Fatal(err)
	}
	j.Note(Line{What: "last"})
	j.Close()
	var lost, calls uint64
	for _, l := range lines(t, s, "web") {
		switch l.What {
		case Lost:
			lost += l.N
		case Call:
			calls++
		}
	}
	if lost == 0 || lost+calls != n && lost+calls != n+1 {
		t.Errorf("%d lost and %d written of %d", lost, calls, n)
	}
	if len(told) != 0 {
		t.Errorf("told again: %v", <-told)
	}
}

// A full disk takes a part of a line: the next line is whole all the same.
func TestFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	s := settings(t)
	j := Open(s, "web", func(error) {})
	j.again = 0
	j.Note(Line{What: "first"})
	path, _ := s.Log("web")
	for limit := time.Now().Add(patience); len(lines(t, s, "web")) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("nothing is written")
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	full := was
	full.Cur = uint64(info.Size()) + 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	j.Note(Line{What: "torn"})
	for limit := time.Now().Add(patience); j.lost.Load() == 0 && time.Now().Before(limit); time.Sleep(time.Millisecond) {
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	j.Note(Line{What: "after"})
	j.Close()
	var whats []string
	for _, l := range lines(t, s, "web") {
		whats = append(whats, l.What)
	}
	if got := strings.Join(whats, " "); got != "first after lost" {
		t.Errorf("read %q", got)
	}
}

// A log is bounded, two processes' worth of writers included, and a reader that
// follows loses nothing when a file is moved away.
func TestRotation(t *testing.T) {
	s := settings(t)
	tail, err := NewTail(s, "")
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	seen := map[string]int{}
	each := func(l Line) { seen[l.Detail]++ }
	long := strings.Repeat("x", 8000)
	a, b := Open(s, "web", func(err error) { t.Error(err) }), Open(s, "web", func(err error) { t.Error(err) })
	n := 0
	for n < 3*maxFile/len(long) {
		for range 20 {
			a.Note(Line{What: Call, Host: long, Detail: fmt.Sprint("a", n)})
			b.Note(Line{What: Call, Host: long, Detail: fmt.Sprint("b", n)})
			n++
		}
		for limit := time.Now().Add(patience); len(seen) < 2*n && time.Now().Before(limit); {
			if err := tail.Read(each); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.Close()
	b.Close()
	if len(seen) != 2*n {
		t.Errorf("%d lines of %d were seen", len(seen), 2*n)
	}
	for what, times := range seen {
		if times != 1 {
			t.Fatalf("%s: seen %d times", what, times)
		}
	}
	path, _ := s.Log("web")
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 3 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Size() > maxFile+4*batchBytes {
			t.Errorf("%s: %d bytes, %v", e.Name(), info.Size(), err)
		}
	}
}

// What came first is not written away: neither by calls, which are counted when
// they come too fast, nor by what else fills the files.
func TestFlood(t *testing.T) {
	s := settings(t)
	j := Open(s, "web", func(err error) { t.Error(err) })
	j.Record(proxy.Record{Host: "evidence.test", Reason: judge.Host})
	for i := range 30_000 {
		j.Record(proxy.Record{Host: fmt.Sprintf("%d.%s.test", i, strings.Repeat("x", 60)), Reason: judge.Host})
	}
	j.Close()
	j = Open(s, "web", func(err error) { t.Error(err) })
	for range 4 * maxFile / 8000 {
		j.Note(Line{What: Call, Host: strings.Repeat("x", 8000)})
		for len(j.queue) > maxQueue/2 {
			time.Sleep(time.Millisecond)
		}
	}
	j.Close()
	all := lines(t, s, "web")
	if len(all) == 0 || all[0].Host != "evidence.test" {
		t.Fatalf("%d lines, and the first is gone", len(all))
	}
	written, lost := 0, uint64(0)
	for _, l := range all {
		if l.What == Lost {
			lost += l.N
		}
		if strings.HasSuffix(l.Host, ".test") {
			written++
		}
	}
	if written > refusedAtOnce+refusedPerSecond*10 || uint64(written)+lost != 30_001 {
		t.Errorf("%d written, %d counted as lost", written, lost)
	}
}

// Of sandboxes that are gone the latest logs are kept; one that is written to
// stays, however old.
func TestSweep(t *testing.T) {
	s := settings(t)
	running := Open(s, "running", func(err error) { t.Error(err) })
	running.Began()
	for limit := time.Now().Add(patience); len(lines(t, s, "running")) == 0 && time.Now().Before(limit); time.Sleep(time.Millisecond) {
	}
	past := time.Now().Add(-time.Hour)
	path, _ := s.Log("running")
	if err := os.Chtimes(path, past, past.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for i := range maxLogs + 5 {
		path, _ := s.Log(fmt.Sprintf("old-%03d", i))
		for _, name := range []string{path, path + firstSuffix, path + oldSuffix} {
			if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(name, past, past.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	j := Open(s, "new", func(err error) { t.Error(err) })
	j.Began()
	j.Close()
	running.Close()
	for name, want := range map[string]bool{"running": true, "new": true, "old-000": false, "old-005": false, "old-006": true, "old-068": true} {
		path, _ := s.Log(name)
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
		if _, err := os.Stat(path + oldSuffix); strings.HasPrefix(name, "old") && (err == nil) != want {
			t.Errorf("%s, moved away, is there: %v, want %v", name, err == nil, want)
		}
	}
}

// What lies in a log's place is never followed nor waited for.
func TestOddFiles(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a link":   func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "other"), path) },
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		s := settings(t)
		path, _ := s.Log("web")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		told := 0
		j := Open(s, "web", func(error) { mu.Lock(); told++; mu.Unlock() })
		j.Began()
		j.Close()
		mu.Lock()
		if told != 1 {
			t.Errorf("%s: told %d times", name, told)
		}
		mu.Unlock()
		if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "other")); err == nil {
			t.Errorf("%s was followed", name)
		}
		tail, _ := NewTail(s, "web")
		if err := tail.Read(func(Line) {}); err == nil {
			t.Errorf("%s was read", name)
		}
		tail.Close()
	}
	if _, err := NewTail(settings(t), "../x"); err == nil {
		t.Error("a name that is none")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"at":"2026-11-29T11:00:00Z","sandbox":"web","what":"call","host":"a.test","port":443,"allowed":true}`))
	f.Add([]byte(`{"at":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := read(text)
		if err != nil {
			return
		}
		b, err := l.write()
		if err != nil || strings.Count(string(b), "\n") != 1 {
			t.Fatalf("%q: written as %q, %v", text, b, err)
		}
		again, err := read(b)
		if err != nil || !again.At.Equal(l.At) || again.Host != l.Host || again.Allowed != l.Allowed || again.Port != l.Port {
			t.Fatalf("%q: read as %+v, then as %+v, %v", text, l, again, err)
		}
	})
}
