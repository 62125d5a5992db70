package selfpipe

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// suspending is set for the process that TestSuspend looks at.
const suspending = "SELFPIPE_TEST_SUSPEND"

// A process that is let go on while it asks whether to stop does not stop; else
// it does, with a shell that looks after it and without, and catches what is typed
// to stop it as before.
func TestSuspend(t *testing.T) {
	if os.Getenv(suspending) != "" {
		suspend()
		return
	}
	for _, orphan := range []bool{false, true} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSuspend$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%v", suspending, orphan))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !orphan, Setsid: orphan}
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		said := bufio.NewScanner(out)
		expect := func(text string) {
			t.Helper()
			if !said.Scan() || said.Text() != text {
				t.Fatalf("orphan %v: %q, want %q", orphan, said.Text(), text)
			}
		}
		expect("before")
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid)); err != nil || orphaned(cmd.Process.Pid) != orphan {
			t.Errorf("orphan %v is not seen: %s, %v", orphan, status, err)
		}
		if err := cmd.Process.Signal(unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		expect("gone on")
		expect("no reason")
		expect("caught")
	}
}

func suspend() {
	caught := make(chan os.Signal, 8)
	Notify(caught, unix.SIGTSTP)
	if os.Getenv(suspending) == "false" {
		Suspend(func() bool { return unix.Kill(os.Getpid(), unix.SIGCONT) == nil })
	}
	fmt.Println("before")
	if Suspend(func() bool { return true }) {
		fmt.Println("gone on")
	}
	if !Suspend(func() bool { return false }) {
		fmt.Println("no reason")
	}
	if len(caught) == 0 && unix.Kill(os.Getpid(), unix.SIGTSTP) == nil {
		<-caught
		fmt.Println("caught")
	}
}
