package direct

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// Probe makes an empty sandbox, with nothing in it, and ends it: nil is that this
// machine lets us. It executes nothing.
func Probe() error {
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ended <- probe()
	}()
	return <-ended
}

func probe() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	fd := int(null.Fd())
	first, err := Begin(Early{OwnNet: true, Session: true, HostName: linuxwall.HostName, Files: [3]int{fd, fd, fd}})
	if err != nil {
		return err
	}
	err = first.Build(&Sandbox{
		Steps: []linuxwall.Step{
			{Verb: linuxwall.Empty, At: "/", Perm: 0o755},
			{Verb: linuxwall.Devices, At: "/dev"},
			{Verb: linuxwall.Processes, At: "/proc"},
		},
		Dir: "/", Argv: []string{"nothing"}, Seccomp: make([]byte, 8), // never let go, so never looked at
	})
	if err == nil {
		err = first.Ready()
	}
	_ = unix.Kill(first.PID, unix.SIGKILL)
	first.Close()
	for {
		if _, err := syscall.Wait4(first.PID, nil, 0, nil); err != syscall.EINTR {
			break
		}
	}
	first.Free()
	return err
}
