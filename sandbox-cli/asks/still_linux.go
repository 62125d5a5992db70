package asks

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

const (
	// maxHeld bounds the processes that are stopped for a question, maxPasses
	// how often they are looked for, until no new one is found.
	maxHeld   = 4096
	maxPasses = 64
	// stopTime is for one process to have stopped.
	stopTime = time.Second
)

var errNotStill = errors.New("the program could not be held still")

// still are the processes of the program, stopped.
type still struct {
	held []int // pidfds, parents first
}

// holdStill stops a child of ours, the wall, and every process below it that is
// in a pid namespace other than ours: the program's. Each is held by a
// descriptor, so that no number is another's. Parents stop before their
// children, and go on after them, so that no shell inside sees its job stopped.
func holdStill(below int) (*still, error) {
	s := &still{}
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, err
	}
	known := map[int]bool{}
	// The wall's own process first: it would take the program for stopped, and
	// stop with it.
	if err := s.stop(below, os.Getpid()); err != nil {
		s.goOn()
		return nil, err
	}
	for range maxPasses {
		found, err := s.pass(below, own, known)
		if err != nil {
			s.goOn()
			return nil, err
		}
		if !found {
			return s, nil
		}
	}
	s.goOn()
	return nil, errNotStill
}

// pass stops what is not yet stopped, and says whether there was anything.
func (s *still) pass(below int, own string, known map[int]bool) (found bool, err error) {
	for all := []int{below}; len(all) > 0; all = all[1:] {
		for _, child := range children(all[0]) {
			all = append(all, child)
			if known[child] {
				continue
			}
			if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", child)); err == nil && ns == own {
				continue
			}
			if len(known) >= maxHeld {
				return false, errNotStill
			}
			known[child], found = true, true
			if err := s.stop(child, all[0]); err != nil {
				return false, err
			}
		}
	}
	return found, nil
}

// stop stops one process, once it is sure that it is the child of its parent.
func (s *still) stop(pid, parent int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil // gone
	}
	if state, ppid := stateOf(pid); ppid != parent || state == 'Z' {
		unix.Close(fd)
		return nil // gone, or its parent is: another pass finds it there
	}
	s.held = append(s.held, fd)
	if err := unix.PidfdSendSignal(fd, unix.SIGSTOP, nil, 0); err != nil {
		return nil
	}
	for end := time.Now().Add(stopTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		switch state, _ := stateOf(pid); state {
		case 'T', 't', 'Z', 'X', 0:
			return nil
		}
	}
	return errNotStill
}

// goOn lets them go on, children first.
func (s *still) goOn() {
	for _, fd := range slices.Backward(s.held) {
		unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
		unix.Close(fd)
	}
	s.held = nil
}

// children gives a process's children (proc_pid_task_tid_children(5)).
func children(pid int) []int {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	var all []int
	for _, t := range tasks {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, f := range bytes.Fields(b) {
			if child, err := strconv.Atoi(string(f)); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// stateOf gives a process's state and parent (proc_pid_stat(5)), 0 for none.
func stateOf(pid int) (state byte, ppid int) {
	f := statOf(pid)
	if len(f) < 3 {
		return 0, 0
	}
	ppid, _ = strconv.Atoi(f[1])
	return f[0][0], ppid
}

// statOf gives what follows the name in a process's stat: its state, parent,
// group.
func statOf(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return procfs.Stat(string(b))
}

// groupsBelow gives the process groups of a process and of all below it.
func groupsBelow(pid int) []int {
	var groups []int
	for all := []int{pid}; len(all) > 0 && len(groups) < maxHeld; all = all[1:] {
		if f := statOf(all[0]); len(f) >= 3 {
			if group, err := strconv.Atoi(f[2]); err == nil {
				groups = append(groups, group)
			}
		}
		all = append(all, children(all[0])...)
	}
	return groups
}
