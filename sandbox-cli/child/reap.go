package child

import (
	"os/exec"
	"syscall"
)

// Reap waits for a child that was started and gives its status in the shell's
// form: 128+n where signal n ended it.
func Reap(cmd *exec.Cmd) int {
	cmd.Wait()
	ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
