package tool

import (
	"os/exec"
	"syscall"
	"time"
)

// openPage runs the opener of the system with a page, as a program of the user's
// own session that outlives the sandbox: it may become the browser. One that
// still runs after openTime is that.
func (h *Host) openPage(argv []string) error {
	cmd := &exec.Cmd{
		Path: argv[0], Args: argv, Env: h.environFor(&folder{path: "/"}), Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(openTime):
		return nil
	}
}
