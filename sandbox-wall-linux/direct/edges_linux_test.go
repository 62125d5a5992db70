package direct

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// A cover stands on what it was planned for: put on a folder that came there
// since, it would leave the one that it is for open under another name.
func TestCoversStandOnWhatWasSeen(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"project/sub/repo", "other/sub/repo"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, "file"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Inside, what is at project is other: as if the two had changed places.
	swapped := bind(t, linuxwall.Write, dir+"/other")
	swapped.At = dir + "/project"
	at := dir + "/project/sub/repo"
	shut := linuxwall.Step{Verb: linuxwall.Close, At: at, Perm: 0o555, Is: node(t, at)}
	file := linuxwall.Step{Verb: linuxwall.CloseFile, At: at + "/file", Is: node(t, at+"/file")}
	for name, step := range map[string]linuxwall.Step{
		"closed": shut, "a closed file": file, "read": bind(t, linuxwall.Read, at), "pinned": bind(t, linuxwall.Pin, at),
	} {
		if r := run(t, small(t, bind(t, linuxwall.Write, dir+"/project"), step), "true"); r.failed != nil {
			t.Errorf("%s, as it was seen: %v", name, r.failed)
		}
		if r := run(t, small(t, swapped, step), "true"); !errors.Is(r.failed, linuxwall.ErrChanged) {
			t.Errorf("%s, on another: %v", name, r.failed)
		}
	}
}

// While folders change places all the time, either nothing is started or what is
// covered is covered.
func TestCoversWhileFoldersAreSwapped(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"sub/repo", "sub2/repo"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	repo, err := unix.Open(dir+"/sub/repo", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(repo)
	work, shut := bind(t, linuxwall.Write, dir), linuxwall.Step{Verb: linuxwall.Close, At: dir + "/sub/repo", Perm: 0o555, Is: node(t, dir+"/sub/repo")}
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, dir+"/sub", unix.AT_FDCWD, dir+"/sub2", unix.RENAME_EXCHANGE)
			}
		}
	}()
	for range 12 {
		r := run(t, small(t, work, shut), "sh", "-c", "touch "+dir+"/sub/repo/x "+dir+"/sub2/repo/x")
		if r.failed != nil && !errors.Is(r.failed, linuxwall.ErrChanged) {
			t.Error(r.failed)
		}
		if err := unix.Unlinkat(repo, "x", 0); err != unix.ENOENT {
			t.Errorf("what is closed was written: %v", err)
		}
	}
	close(stop)
	<-stopped
}

// The first process holds on to nothing of its parent's from the moment that the
// view is whole, and not only once the program runs.
func TestNothingInherited(t *testing.T) {
	out := make(chan string, 1)
	go func() {
		runtime.LockOSThread()
		out <- inherited(small(t))
	}()
	if wrong := <-out; wrong != "" {
		t.Error(wrong)
	}
}

func inherited(sb *Sandbox) string {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return err.Error()
	}
	defer unix.Close(pipe[0])
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err.Error()
	}
	defer null.Close()
	fd := int(null.Fd())
	sb.Argv, sb.Candidates = []string{"true"}, []string{"/usr/bin/true"}
	first, err := begin(fd, fd)
	unix.Close(pipe[1])
	if err != nil {
		return err.Error()
	}
	defer syscall.Wait4(first.PID, nil, 0, nil)
	defer syscall.Kill(first.PID, syscall.SIGKILL)
	defer first.Close()
	if err := errors.Join(first.Build(sb), first.Ready()); err != nil {
		return err.Error()
	}
	if n, err := unix.Read(pipe[0], make([]byte, 1)); n != 0 || err != nil {
		return fmt.Sprintf("an end of the parent's pipe is still held: %d, %v", n, err)
	}
	return ""
}

// A script without #! is started by the shell, with its path and its arguments.
func TestScriptWithoutInterpreter(t *testing.T) {
	script := linuxwall.Step{Verb: linuxwall.WriteFile, At: "/own/script", Text: "echo \"$0\" \"$@\"\n", Perm: 0o755}
	r := run(t, small(t, script), "/own/script", "a", "b c", "")
	if r.failed != nil || r.noExec != nil || r.out != "/own/script a b c" {
		t.Errorf("%+v", r)
	}
}

// What there is not enough of at the moment is not what the machine lets nobody
// do, for which bubblewrap would be asked.
func TestFailures(t *testing.T) {
	f := &First{whats: []string{"a user namespace", "read /a"}, machines: 1}
	for _, c := range []struct {
		what  uint64
		errno syscall.Errno
		is    error
	}{
		{0, unix.EPERM, ErrUnavailable}, {0, unix.ENOSYS, ErrUnavailable}, {0, unix.ENOSPC, ErrUnavailable},
		{0, unix.EMFILE, nil}, {0, unix.ENOMEM, nil}, {0, unix.EAGAIN, nil}, {0, unix.ENFILE, nil},
		{1, unix.ENOENT, linuxwall.ErrChanged}, {1, unix.ESTALE, linuxwall.ErrChanged}, {1, unix.EXDEV, linuxwall.ErrChanged},
		{1, unix.EACCES, nil}, {1, unix.EMFILE, nil},
	} {
		err := f.failure(record{toldFailed, c.what, uint64(c.errno)})
		for _, is := range []error{ErrUnavailable, linuxwall.ErrChanged} {
			if errors.Is(err, is) != (c.is == is) {
				t.Errorf("%d %v: %v is %v", c.what, c.errno, err, is)
			}
		}
		if !errors.Is(err, c.errno) || !strings.HasPrefix(err.Error(), f.whats[c.what]+": ") {
			t.Errorf("%d %v: %v", c.what, c.errno, err)
		}
	}
}

// Sandboxes are made while the runtime collects, opens files and starts threads.
func TestStartsBesideGo(t *testing.T) {
	stop := make(chan bool)
	for range 3 {
		go func() {
			for kept := make([][]byte, 64); ; {
				select {
				case <-stop:
					return
				default:
				}
				for i := range kept {
					kept[i] = make([]byte, 16<<10)
				}
				if f, err := os.Open("/proc/self/maps"); err == nil {
					f.Read(kept[0])
					f.Close()
				}
				runtime.GC()
			}
		}()
	}
	defer close(stop)
	results := make(chan result)
	const rounds, beside = 4, 4
	for range beside {
		go func() {
			for range rounds {
				results <- run(t, small(t), "echo", "ran")
			}
		}()
	}
	for range rounds * beside {
		select {
		case r := <-results:
			if r.failed != nil || r.status != 0 || r.out != "ran" {
				t.Errorf("%+v", r)
			}
		case <-time.After(time.Minute):
			t.Fatal("a sandbox does not end")
		}
	}
}
