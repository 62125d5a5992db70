package asks

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

func question() tool.Question {
	return tool.Question{Sandbox: "web", Name: "gh", Argv: []string{"/bin/gh", "a\x1b[31m\nb"}, Folder: "/w"}
}

func desk(t *testing.T, alone time.Duration) (*Desk, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "asks")
	d := New(Config{Folder: folder, Alone: alone, OnTerminal: patience})
	t.Cleanup(d.Close)
	return d, folder
}

// ask asks and gives the id of what waits.
func ask(t *testing.T, ctx context.Context, d *Desk, folder string) (id string, ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	noticed := make(chan string, 1)
	go func() { ended <- d.Ask(ctx, question(), func(line string) { noticed <- line }) }()
	var line string
	select {
	case line = <-noticed:
	case <-time.After(patience):
		t.Fatal("no notice")
	}
	all, err := Pending(folder)
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	q := all[len(all)-1]
	if q.Call != `/bin/gh "a\x1b[31m\nb"` || q.Folder != "/w" || q.Sandbox != "web" || !strings.HasSuffix(line, q.ID) {
		t.Errorf("%+v, %q", q, line)
	}
	return q.ID, ended
}

// Of many answers one holds, and it is for its question alone.
func TestAnswers(t *testing.T) {
	d, folder := desk(t, patience)
	for _, yes := range []bool{true, false} {
		id, ended := ask(t, t.Context(), d, folder)
		var took sync.WaitGroup
		var mu sync.Mutex
		held := 0
		for range 8 {
			took.Go(func() {
				if Answer(folder, id, yes) == nil {
					mu.Lock()
					held++
					mu.Unlock()
				}
			})
		}
		took.Wait()
		if held != 1 {
			t.Errorf("%d answers held", held)
		}
		if err := <-ended; (err == nil) != yes || !yes && !errors.Is(err, tool.ErrDenied) {
			t.Error(yes, err)
		}
		if err := Answer(folder, id, true); err == nil {
			t.Error("a question that is over was answered")
		}
	}
}

// Who has said no and no again is left alone for a while.
func TestEnough(t *testing.T) {
	d, folder := desk(t, patience)
	for range enough {
		id, ended := ask(t, t.Context(), d, folder)
		if err := Answer(folder, id, false); err != nil {
			t.Fatal(err)
		}
		<-ended
	}
	if err := d.Ask(t.Context(), question(), func(string) { t.Error("asked") }); !errors.Is(err, tool.ErrNobody) {
		t.Error(err)
	}
	d.mu.Lock()
	d.last = d.last.Add(-leftAlone)
	d.mu.Unlock()
	id, ended := ask(t, t.Context(), d, folder)
	Answer(folder, id, true)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestNobodyAnswers(t *testing.T) {
	alone, _ := desk(t, 50*time.Millisecond)
	if err := alone.Ask(t.Context(), question(), func(string) {}); !errors.Is(err, tool.ErrNobody) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d, folder := desk(t, patience)
	id, ended := ask(t, ctx, d, folder)
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was given up is made")
	}
	if err := Answer(folder, id, true); err == nil {
		t.Error("a call that was given up was answered")
	}
	// The end of the sandbox is a no, and nothing is left of it.
	_, ended = ask(t, t.Context(), d, folder)
	d.Close()
	if err := <-ended; err == nil {
		t.Error("allowed by the end")
	}
	if err := d.Ask(t.Context(), question(), func(string) {}); !errors.Is(err, tool.ErrNobody) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Error(left)
	}
}

// Sockets are 0600 in a folder of 0700, one whose process is gone is removed,
// and a path that is too long for a socket is no obstacle.
func TestSockets(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("long", 40), "asks")
	d := New(Config{Folder: folder, Alone: patience, OnTerminal: patience})
	defer d.Close()
	id, ended := ask(t, t.Context(), d, folder)
	for path, mode := range map[string]os.FileMode{folder: 0o700, filepath.Join(folder, name(os.Getpid())): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Error(path, info.Mode(), err)
		}
	}
	short := t.TempDir()
	// No process has a number as great (pid_max, proc_sys_kernel(5)).
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, name(1<<22)), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if all, err := Pending(short); len(all) != 0 || err != nil {
		t.Error(all, err)
	}
	if left, _ := os.ReadDir(short); len(left) != 0 {
		t.Error("left:", left)
	}
	for _, no := range []string{"", "x-1", "../1-1", "1", "-1", id + "0"} {
		if err := Answer(folder, no, true); err == nil {
			t.Errorf("%q was answered", no)
		}
	}
	if err := Answer(folder, id, true); err != nil || <-ended != nil {
		t.Error(err)
	}
	if all, err := Pending(filepath.Join(short, "none")); len(all) != 0 || err != nil {
		t.Error(all, err)
	}
}

// A socket that nobody listens on yet is left to its process, and one whose process
// has ended is not.
func TestSocketsOfTheDead(t *testing.T) {
	folder := t.TempDir()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for pid, stays := range map[int]bool{os.Getpid(): true, ended.Process.Pid: false} {
		at := filepath.Join(folder, name(pid))
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: at}); err != nil {
			t.Fatal(err)
		}
		if all, err := Pending(folder); len(all) != 0 || err != nil {
			t.Errorf("%v, %v", all, err)
		}
		if _, err := os.Stat(at); (err == nil) != stays {
			t.Errorf("stays %v: %v", stays, err)
		}
	}
}
