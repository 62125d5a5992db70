package cli

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/selfpipe"
)

// A typed interrupt is for the shell too. It has it as we have, and ends its
// script or loop where what it ran has died of it, and goes on where that has
// ended otherwise, with whatever status: an editor's Ctrl-C is not its own.
var interrupts chan os.Signal

// hearInterrupts begins to note them, where the program has the terminal: they
// are sent to everything on it. Who was started to ignore them has a
// shell that does.
func hearInterrupts(terminal bool) {
	if terminal && !signal.Ignored(unix.SIGINT) {
		interrupts = make(chan os.Signal, 1)
		selfpipe.Notify(interrupts, unix.SIGINT)
	}
}

// dying bounds the wait for our own signal.
const dying = time.Second

// interruptedToo ends this process as the program was ended, by the interrupt
// that was typed; else it returns. Who leads the session has no shell behind it.
func interruptedToo(status int) {
	if status != 128+int(unix.SIGINT) || len(interrupts) == 0 {
		return
	}
	if leader, err := unix.Getsid(0); err != nil || leader == os.Getpid() {
		return
	}
	selfpipe.Stop(interrupts)
	if unix.Kill(os.Getpid(), unix.SIGINT) == nil {
		time.Sleep(dying)
	}
}
