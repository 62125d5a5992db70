package launch

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/noexec"
	"golang.org/x/sys/unix"
)

// Prepared is the step before bubblewrap, where there has to be one: it does
// the orders of a [Spec] and becomes bubblewrap. It returns only when it could
// not, and then has told the process that waits; nothing is printed.
func Prepared(args []string) (status int) {
	runtime.LockOSThread()
	if len(args) < 4 || args[2] != "--" {
		return StatusSetup
	}
	orders, err := strconv.Atoi(args[0])
	tell, err2 := strconv.Atoi(args[1])
	if errors.Join(err, err2) != nil {
		return StatusSetup
	}
	err = prepare(orders, args[3:])
	says := saysFailed + err.Error()
	if errors.Is(err, noexec.ErrChanged) {
		says = saysChanged + err.Error()
	}
	_, _ = unix.Write(tell, []byte(says[:min(len(says), maxStatus)]))
	return StatusSetup
}

func prepare(orders int, argv []string) error {
	// The orders are ours, and are not bubblewrap's to have.
	o, err := noexec.Read(orders)
	if err != nil {
		return err
	}
	if os.Getpid() != 1 {
		return fmt.Errorf("not the first process of its namespace: this step is started by lnk sandbox, not by hand")
	}
	if err := noexec.Apply(o); err != nil {
		return err
	}
	// In the mount namespace that is ours alone: see lastingSecond. Where the
	// kernel allows none, bubblewrap says what it misses.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	return noexec.Become(argv)
}
