package stubs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary plays the owner of a run, for those that are killed.
const roleVar = "STUBS_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) == "" {
		os.Exit(m.Run())
	}
	if err := play(os.Getenv(roleVar), os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
	}
	os.Exit(0)
}

// play holds the stubs of a work folder and says so; then, by its role, waits,
// or lets them go again at once.
func play(role, store, work string) error {
	runtime.LockOSThread() // strace counts calls by thread
	switch role {
	case "umask-077":
		unix.Umask(0o077)
	case "umask-777":
		// The store is made before: it is not what this is about.
		if err := os.MkdirAll(store, 0o700); err != nil {
			return err
		}
		unix.Umask(0o777)
	case "hold-limited":
		signal.Ignore(unix.SIGXFSZ)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 10, Max: 10}); err != nil {
			return err
		}
	}
	p := &place{work: work}
	h, err := NewStore(store).Hold(p.wants())
	if err != nil {
		return err
	}
	if role == "once" || strings.HasPrefix(role, "umask") {
		_, err := h.Release()
		return err
	}
	if role == "hold-with-child" {
		// As bubblewrap's first process keeps its --sync-fd.
		child := exec.Command("sleep", "600")
		child.ExtraFiles = []*os.File{h.File()}
		if err := child.Start(); err != nil {
			return err
		}
		fmt.Println("child", child.Process.Pid)
	}
	fmt.Println("held", h.Record())
	_, err = io.Copy(io.Discard, os.Stdin) // until it is killed, or the test ends
	return err
}

func playWith(t *testing.T, p *place, under string, role string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(strings.Fields(under), exe, p.store.dir, p.work)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	return cmd
}

// owner starts a run in another process and waits until it holds its stubs.
// said is what it said before that.
func owner(t *testing.T, p *place, role string) (cmd *exec.Cmd, record, said string) {
	t.Helper()
	cmd = playWith(t, p, "", role)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "held "); ok {
			return cmd, name, said
		}
		said += lines.Text()
	}
	t.Fatalf("the owner said %q", said)
	return nil, "", ""
}

// keeper is the process that keeps the file of a run's, of which the owner said
// the number.
func keeper(t *testing.T, said string) (pid int) {
	t.Helper()
	if _, err := fmt.Sscanf(said, "child %d", &pid); err != nil {
		t.Fatal(said)
	}
	t.Cleanup(func() {
		if t.Failed() { // and so may not have come to that itself
			unix.Kill(pid, unix.SIGKILL)
		}
	})
	return pid
}

// killed leaves what a run leaves whose owner was killed.
func killed(t *testing.T, p *place) {
	t.Helper()
	cmd, _, _ := owner(t, p, "hold")
	cmd.Process.Kill()
	cmd.Wait()
	if got := names(t, p.work); len(got) != 3 {
		t.Fatalf("the killed run left %v", got)
	}
}

func TestSweepAfterKill(t *testing.T) {
	p := newPlace(t)
	killed(t, p)
	if r, err := p.store.Sweep(); err != nil || len(r.Removed) != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	p.clean()
}

// The next run takes over what a killed one left, and removes it: also one whose
// record was lost, with its settings, say.
func TestHoldAfterKill(t *testing.T) {
	for name, lost := range map[string]bool{"its record there": false, "its record lost": true} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			killed(t, p)
			if lost {
				if err := os.RemoveAll(p.store.dir); err != nil {
					t.Fatal(err)
				}
			}
			h := p.hold()
			if taken := h.Taken(); len(taken) > 0 {
				t.Errorf("taken: %v", taken)
			}
			release(t, h)
			p.clean()
		})
	}
}

// A killed run's stubs stay while another run needs them.
func TestSweepBesideALiveRun(t *testing.T) {
	p := newPlace(t)
	cmd, _, _ := owner(t, p, "hold")
	live := p.hold()
	cmd.Process.Kill()
	cmd.Wait()
	if r, err := p.store.Sweep(); err != nil || len(r.Kept) != 3 || len(r.Removed) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := names(t, p.work); len(got) != 3 {
		t.Errorf("%v", got)
	}
	release(t, live)
	p.clean()
}

// Await returns when the owner and the process that kept its file are gone, and
// no sooner.
func TestAwait(t *testing.T) {
	p := newPlace(t)
	cmd, record, said := owner(t, p, "hold-with-child")
	child := keeper(t, said)
	type result struct {
		r   Report
		err error
	}
	done := make(chan result, 1)
	go func() {
		r, err := p.store.Await(t.Context(), record)
		done <- result{r, err}
	}()
	cmd.Process.Kill()
	cmd.Wait()
	if r, err := p.store.Sweep(); err != nil || len(r.Removed) > 0 {
		t.Errorf("swept beneath a sandbox whose owner is dead: %+v, %v", r, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.store.Await(short, record); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("given up: %v", err)
	}
	select {
	case r := <-done:
		t.Errorf("did not wait: %+v", r)
	default:
	}
	if err := unix.Kill(child, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// The two waiters race for the record; one of them sweeps.
	if r := <-done; r.err != nil {
		t.Error(r.err)
	}
	p.clean()
}

// A sandbox whose owner is dead needs its stubs until it has ended: another run
// leaves them, and so does the sweep of one that was killed.
func TestSandboxOutlivesItsOwner(t *testing.T) {
	p := newPlace(t)
	cmd, _, said := owner(t, p, "hold-with-child")
	child := keeper(t, said)
	cmd.Process.Kill()
	cmd.Wait()
	if r := release(t, p.hold()); len(r.Kept) != 3 || len(r.Removed) > 0 {
		t.Errorf("released: %+v", r)
	}
	killed(t, p)
	if r, err := p.store.Sweep(); err != nil || len(r.Kept) != 3 || len(r.Removed) > 0 {
		t.Errorf("swept: %+v, %v", r, err)
	}
	if got := names(t, p.work); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if err := unix.Kill(child, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Init reaps it when it gets to it; the lock goes as it dies.
	for deadline := time.Now().Add(20 * time.Second); len(names(t, p.work)) > 0 && time.Now().Before(deadline); {
		if _, err := p.store.Sweep(); err != nil {
			t.Fatal(err)
		}
	}
	p.clean()
}

func TestAwaitOfAReleasedRun(t *testing.T) {
	p := newPlace(t)
	h := p.hold()
	done := make(chan error, 1)
	go func() {
		_, err := p.store.Await(t.Context(), h.Record())
		done <- err
	}()
	release(t, h)
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.clean()
	for _, name := range []string{"", "../x.run", "lock"} {
		if _, err := p.store.Await(t.Context(), name); err == nil {
			t.Errorf("awaited %q", name)
		}
	}
}

// Killed on entering each system call of a run in turn, from its first to its
// last, nothing is left once it was swept.
func TestKilledAtEveryCall(t *testing.T) {
	for call, atLeast := range map[string]int{
		"mkdirat": 2, "openat": 8, "openat2": 1, "write": 2, "pwrite64": 1, "flock": 8, "unlinkat": 3,
		"renameat2": 1, "newfstatat": 6, "fstat": 6, "close": 12,
	} {
		hits := 0
		for n := 1; ; n++ {
			p := newPlace(t)
			cmd := playWith(t, p, fmt.Sprintf("strace -f -o /dev/null -e trace=%s -e inject=%s:signal=SIGKILL:when=%d", call, call, n), "once")
			out, err := cmd.CombinedOutput()
			if err == nil {
				if len(out) > 0 {
					t.Errorf("%s: %s", call, out)
				}
				p.clean()
				break // it ran to its end: there is no nth call
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(interface{ Signal() unix.Signal }).Signal() != unix.SIGKILL {
				t.Fatalf("%s %d: %v\n%s", call, n, err, out)
			}
			hits++
			if _, err := p.store.Sweep(); err != nil {
				t.Errorf("%s %d: %v", call, n, err)
			}
			if p.clean(); t.Failed() {
				t.Fatalf("killed at %s %d", call, n)
			}
		}
		if hits < atLeast {
			t.Errorf("%s: killed at %d, want at least %d: the test misses what it is for", call, hits, atLeast)
		}
	}
}
