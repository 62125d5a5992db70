package landlock

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What cannot be undone is done in a child: the test binary, told by the
// variable what to be.
const childVar = "LANDLOCK_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "execute":
		runtime.LockOSThread()
		if err := Execute(os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		execute()
		os.Exit(0)
	case "scoped":
		runtime.LockOSThread()
		s, err := Scope()
		if err != nil || s.Missing() != Closable().Missing() {
			fmt.Println("scope:", err, s.Missing())
			os.Exit(2)
		}
	}
	try(os.Args[1])
	os.Exit(0)
}

// try says what it can reach: a socket outside, a process outside, a socket of
// its own, a child of its own, mounts, and what another thread can reach.
func try(address string) {
	fmt.Println("socket outside:", dial(address))
	fmt.Println("parent:", unix.Kill(os.Getppid(), 0))
	own := fmt.Sprintf("@lnk-landlock-own-%d", os.Getpid())
	l, err := net.Listen("unix", own)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	defer l.Close()
	fmt.Println("socket of its own:", dial(own))
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	fmt.Println("child:", unix.Kill(child.Process.Pid, unix.SIGKILL))
	child.Wait()
	out, err := exec.Command("bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--tmpfs", "/tmp", "true").CombinedOutput()
	fmt.Println("bubblewrap:", err, string(out))
	other := make(chan error)
	go func() {
		runtime.LockOSThread() // another thread than the locked one
		other <- dial(address)
	}()
	fmt.Println("another thread:", <-other)
}

// dial connects on the calling thread, as net.Dial would not.
func dial(address string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: address})
}

func child(t *testing.T, as string) string {
	t.Helper()
	address := fmt.Sprintf("@lnk-landlock-%d-%s", os.Getpid(), as)
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, address)
	cmd.Env = append(os.Environ(), childVar+"="+as)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// refusedBy is what a call comes to on this kernel, which has a scope or is
// too old for it: then it is told, and nothing else stands in the way here.
func refusedBy(scope bool) string {
	if scope {
		return "operation not permitted"
	}
	return "<nil>"
}

func TestScope(t *testing.T) {
	free := child(t, "free")
	for line := range strings.Lines(free) {
		if !strings.Contains(line, ": <nil>") {
			t.Errorf("unrestricted: %s", line)
		}
	}
	got := child(t, "scoped")
	want := "socket outside: " + refusedBy(Closable().AbstractSockets) + `
parent: ` + refusedBy(Closable().Signals) + `
socket of its own: <nil>
child: <nil>
bubblewrap: <nil> 
another thread: <nil>
`
	if got != want {
		t.Errorf("restricted:\n%s\nwant\n%s", got, want)
	}
}

// ABI is the kernel's own answer, and none where it gives none.
func TestABI(t *testing.T) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		version = 0
	}
	if ABI() != int(version) {
		t.Errorf("ABI %d, and the kernel says %d (%v)", ABI(), version, errno)
	}
}
