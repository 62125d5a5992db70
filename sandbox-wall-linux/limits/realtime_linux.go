package limits

import (
	"errors"

	"golang.org/x/sys/unix"
)

// errRealtime is that a share of the processors would bound nothing.
var errRealtime = errors.New("cpu: the program would run at a realtime priority, which a share of the processors does not bound: start it without (chrt --other 0), or leave the cpu limit out")

// shared refuses a process that takes no part in what a cgroup shares out: a
// task at a realtime priority goes before all of it, and the quota of its group
// does not count it (sched(7), cgroups(7)). That nobody below it gets one is a
// limit of each process ([Group.resources]), which is not raised without
// CAP_SYS_RESOURCE; deadlines want CAP_SYS_NICE.
func shared(pid int) error {
	now, err := unix.SchedGetAttr(pid, 0)
	if err != nil {
		return err
	}
	switch now.Policy {
	case unix.SCHED_FIFO, unix.SCHED_RR, unix.SCHED_DEADLINE:
		return errRealtime
	}
	return nil
}
