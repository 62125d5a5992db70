//go:build linux

package inside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// outer is the proxy's part up to a point (args[0]), with a role as the stage (args[1]), where it says so and stays until it
// is killed. Descriptor 3 is given on to every process: whoever reads its
// other end sees it close when the last of them has ended.
func outer(args []string) error {
	alive := os.NewFile(3, "alive")
	cmd := exec.Command(self, args[1])
	cmd.ExtraFiles = []*os.File{alive}
	h, err := Prepare(cmd, Want{ProxyPort: 3128})
	if err != nil {
		return err
	}
	cmd.Args = append(append(cmd.Args, Want{ProxyPort: 3128}.Flags(h.FD())...), "/bin/sleep", "1000")
	runtime.LockOSThread()
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"start", h.Start},
		{"receive", func() error { _, err := h.Receive(context.Background()); return err }},
		{"go", h.Go},
		{"end", cmd.Wait},
	} {
		if err := step.do(); err != nil {
			return err
		}
		if step.name == args[0] {
			fmt.Println("here")
			time.Sleep(time.Hour)
		}
	}
	return nil
}

// outerProcess starts the role, and gives the end of the pipe that says when
// all of it has ended.
func outerProcess(t *testing.T, until, role string) (cmd *exec.Cmd, said io.Reader, all *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	cmd = exec.Command(self, "outer", until, role)
	cmd.ExtraFiles = []*os.File{write}
	cmd.Stderr = os.Stderr
	if said, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	return cmd, said, read
}

// endsWith holds that every process has ended.
func endsWith(t *testing.T, all *os.File, how string) {
	t.Helper()
	all.SetReadDeadline(time.Now().Add(hang))
	if _, err := all.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%s: a process is left: %v", how, err)
	}
}

// Wherever the proxy is killed, nothing of the inside outlives it.
func TestKilledOutsideEndsTheInside(t *testing.T) {
	for _, c := range [][2]string{{"start", "stage"}, {"receive", "stage"}, {"go", "stage"}, {"go", "thread"}} {
		until := c[0]
		cmd, said, all := outerProcess(t, until, c[1])
		if _, err := io.ReadFull(said, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		if until == "go" {
			// So that the program runs, by its name, and not the stage.
			waitForProgram(t, cmd.Process.Pid)
		}
		cmd.Process.Kill()
		cmd.Wait()
		endsWith(t, all, "killed after "+until+" of "+c[1])
	}
	for i := range 25 {
		cmd, _, all := outerProcess(t, "end", "stage")
		time.Sleep(time.Duration(i) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		endsWith(t, all, fmt.Sprintf("killed after %d ms", i))
	}
}

// waitForProgram waits until the child of pid has executed the program.
func waitForProgram(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(hang); ; time.Sleep(time.Millisecond) {
		var comm []byte
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // it is a thread's child
		for _, task := range tasks {
			children, _ := os.ReadFile(task)
			var child int
			if n, _ := fmt.Sscan(string(children), &child); n == 1 {
				comm, _ = os.ReadFile(fmt.Sprintf("/proc/%d/comm", child))
			}
		}
		if string(comm) == "sleep\n" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the program did not start: %q", comm)
		}
	}
}

// Wherever the inside is killed, the outside hears of it and keeps nothing.
func TestKilledInsideIsSeenOutside(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := descriptors(t)
	for i := range 40 {
		cmd := exec.Command(self, "stage")
		h, err := Prepare(cmd, Want{ProxyPort: 3128})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Args = append(append(cmd.Args, Want{ProxyPort: 3128}.Flags(h.FD())...), "/bin/true")
		if err := h.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Duration(i) * 300 * time.Microsecond)
			cmd.Process.Kill()
		}()
		l, err := h.Receive(t.Context())
		var step *StepError
		switch {
		case err == nil:
			l.Close()
			h.Close()
		case !errors.As(err, &step) || !errors.Is(err, ErrGone):
			t.Errorf("killed after %d: %v", i, err)
		}
		cmd.Wait()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before and %d after", before, after)
	}
}

// A process that is not told to go on executes nothing.
func TestWithoutGoNothingIsExecuted(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	made := t.TempDir() + "/made"
	cmd := exec.Command(self, "stage")
	h, err := Prepare(cmd, Want{})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args = append(append(cmd.Args, Want{}.Flags(h.FD())...), "/usr/bin/touch", made)
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	l, err := h.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	h.Close()
	var end *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &end) || end.ExitCode() != 125 {
		t.Errorf("it ended with %v", err)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the program ran")
	}
}

func TestGoAfterTheEnd(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(self, "stage")
	h, err := Prepare(cmd, Want{})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args = append(append(cmd.Args, Want{}.Flags(h.FD())...), "/bin/true")
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	l, err := h.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	cmd.Process.Kill()
	cmd.Wait()
	if err := h.Go(); !errors.Is(err, ErrGone) {
		t.Errorf("Go: %v", err)
	}
	h.Close()
}

func TestReceiveHasABound(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(self, "probe", "wait") // says nothing on its socket
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	h, err := Prepare(cmd, Want{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	why := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	from := time.Now()
	if _, err := h.Receive(ctx); !errors.Is(err, why) || time.Since(from) >= receiveWait {
		t.Errorf("Receive: %v after %v", err, time.Since(from))
	}
	in.Close()
	cmd.Wait()
}

func TestPrepareKeepsWhatTheCallerSet(t *testing.T) {
	mine, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	set := &syscall.SysProcAttr{Setpgid: true}
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr, cmd.ExtraFiles = set, []*os.File{mine}
	h, err := Prepare(cmd, Want{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	a := cmd.SysProcAttr
	if !a.Setpgid || a.Pdeathsig != syscall.SIGKILL || a.GidMappingsEnableSetgroups || len(cmd.ExtraFiles) != 2 || cmd.ExtraFiles[0] != mine || h.FD() != 4 {
		t.Errorf("got %+v, %d files, descriptor %d", a, len(cmd.ExtraFiles), h.FD())
	}
	if set.Pdeathsig != 0 {
		t.Error("the caller's own value was changed")
	}
	for what, a := range map[string]*syscall.SysProcAttr{
		"credential": {Credential: &syscall.Credential{}}, "uid mappings": {UidMappings: []syscall.SysProcIDMap{{}}},
		"gid mappings": {GidMappings: []syscall.SysProcIDMap{{}}}, "capabilities": {AmbientCaps: []uintptr{1}},
	} {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = a
		if _, err := Prepare(cmd, Want{}); err == nil {
			t.Errorf("%s of the caller's own are taken", what)
		}
	}
	if _, err := Prepare(exec.Command("/bin/true"), Want{ProxyPort: DNSPort}); !errors.Is(err, ErrWant) {
		t.Errorf("a port that is taken: %v", err)
	}
}

// forbid is root of a user namespace in which no other can be made.
func forbid(args []string) error {
	switch args[0] {
	case "max":
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			return err
		}
	case "maxnet":
		if err := os.WriteFile("/proc/sys/user/max_net_namespaces", []byte("0"), 0); err != nil {
			return err
		}
	case "chroot":
		if err := syscall.Chroot("/usr"); err != nil {
			return err
		}
	}
	cmd := exec.Command("/bin/true")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr // /dev/null is not there
	h, err := Prepare(cmd, Want{})
	if err != nil {
		return err
	}
	err = h.Start()
	fmt.Println(errors.Is(err, ErrForbidden), err)
	return nil
}

func TestForbiddenNamespaces(t *testing.T) {
	for how, want := range map[string]string{
		"max":    "true network inside: start: user namespaces are forbidden here: user.max_user_namespaces is 0 (no space left on device); an administrator can set it, as in sysctl user.max_user_namespaces=10000\n",
		"maxnet": "true network inside: start: user namespaces are forbidden here: user.max_net_namespaces is 0 (no space left on device); an administrator can set it, as in sysctl user.max_net_namespaces=10000\n",
		"chroot": "true network inside: start: user namespaces are forbidden here: a policy, such as a container's seccomp filter or a chroot, does not allow them (operation not permitted); run outside it, or allow user namespaces in it (a container: --security-opt seccomp=unconfined)\n",
	} {
		cmd := exec.Command(self, "forbid", how)
		cmd.SysProcAttr = inNewNamespaces()
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s: %v\ngot  %swant %s", how, err, out, want)
		}
	}
}

func TestAProgramThatIsNotThereIsNoForbiddenNamespace(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h, err := Prepare(exec.Command(filepath.Join(t.TempDir(), "none")), Want{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrForbidden) {
		t.Errorf("Start: %v", err)
	}
}

// A stage that is started by hand does nothing to the network it is in, and one
// whose rules are not the only ones goes no further.
func TestEnterRefusesANetworkThatIsNotItsOwn(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for role, at := range map[string]Step{"used": StepNamespace, "tabled": StepReadBack} {
		cmd := exec.Command(self, role)
		h, err := Prepare(cmd, Want{})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Args = append(append(cmd.Args, Want{}.Flags(h.FD())...), "/bin/true")
		if err := h.Start(); err != nil {
			t.Fatal(err)
		}
		l, err := h.Receive(t.Context())
		var step *StepError
		if !errors.As(err, &step) || step.Step != at {
			t.Errorf("%s: Receive: %v, %v", role, l, err)
		}
		h.Close()
		if cmd.Wait() == nil {
			t.Errorf("%s: the program was executed", role)
		}
	}
}

func TestEnterRefusesWhatIsNoControlSocket(t *testing.T) {
	file, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pair[0])
	defer syscall.Close(pair[1])
	for what, fd := range map[string]int{"a file": int(file.Fd()), "a stream": pair[0], "nothing": 1 << 19} {
		var step *StepError
		if err := Enter(fd, Want{}); !errors.As(err, &step) || step.Step != StepControl {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Without the flag the stage says so.
	out, err := exec.Command(self, "stage", "/bin/true").CombinedOutput()
	if err == nil || !contains(string(out), "--control is missing") {
		t.Errorf("by hand: %v, %s", err, out)
	}
	// With somebody else's descriptor too.
	out, err = exec.Command(self, "stage", "--control="+strconv.Itoa(3), "/bin/true").CombinedOutput()
	if err == nil || !contains(string(out), "network inside: control") {
		t.Errorf("by hand, with a number: %v, %s", err, out)
	}
}
