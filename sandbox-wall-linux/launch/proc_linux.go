package launch

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxProcText bounds what is read of one file of /proc.
const maxProcText = 64 << 10

// procText reads without the runtime's poller, which is slow to begin with.
func procText(pid int, name string) (string, error) {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/%s", pid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	text := make([]byte, 0, 4096)
	for len(text) < maxProcText {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return "", err
		}
		if n == 0 {
			break
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = slices.Grow(text, len(text))
		}
	}
	return string(text), nil
}

// ownProc refuses a /proc of another pid namespace, in which our children have
// other numbers.
func ownProc() error {
	var number [16]byte
	n, err := unix.Readlink("/proc/self", number[:])
	if err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if string(number[:n]) != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("/proc is of another pid namespace: process %d is %s in it", os.Getpid(), number[:n])
	}
	return nil
}

// initPID is the pid namespace that the machine began with: its number is a
// constant of the kernel's (PROC_PID_INIT_INO in include/linux/proc_ns.h).
const initPID = "pid:[4026531836]"

// lastingSecond says whether /proc holds a process 2 that never ends: the
// parent of all kernel threads, which only the first pid namespace has, and
// which mounts with hidepid= show to nobody else (proc(5)). A bubblewrap that
// is the first process of a pid namespace calls its child 2 and looks for it in
// the /proc that it has, which is still ours; without a 2 there it gives up
// (namespace_ids_read in bubblewrap.c).
func lastingSecond() bool {
	var name [32]byte
	n, err := unix.Readlink("/proc/self/ns/pid", name[:])
	if err != nil || string(name[:n]) != initPID {
		return false
	}
	return unix.Access("/proc/2/ns", unix.F_OK) == nil
}

func statusOf(pid int) (process, error) {
	text, err := procText(pid, "status")
	return readStatus(text), err
}

// children gives a process' children, the oldest first. The kernel lists them
// where it was built with PROC_CHILDREN, as distributions do; else all
// processes are asked for their parent.
func children(pid int) []int {
	text, err := procText(pid, "task/"+strconv.Itoa(pid)+"/children")
	if err == nil {
		return readPIDs(text)
	}
	if _, gone := statusOf(pid); gone != nil {
		return nil
	}
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, e := range all {
		if child, err := strconv.Atoi(e.Name()); err == nil {
			if p, err := statusOf(child); err == nil && p.parent == pid {
				found = append(found, child)
			}
		}
	}
	return found
}

// first gives the number of the sandbox's first process, or 0.
func (b *sandbox) first() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pid == 0 || b.reaped {
		return 0
	}
	if b.spec.Direct != nil {
		return b.pid
	}
	for _, pid := range children(b.pid) {
		return pid
	}
	return 0
}

// program opens the program's process: a child of the first, and the second of
// its pid namespace. The number 2 is given out once, since numbers that wrap
// around begin at 300 (RESERVED_PIDS), so what answers to this is the program.
func (b *sandbox) program() (pidfd int, is process, err error) {
	first := b.first()
	if first == 0 {
		return -1, process{}, os.ErrProcessDone
	}
	for _, pid := range children(first) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if p, err := statusOf(pid); err == nil && p.parent == first && p.inner == 2 {
			return fd, p, nil
		}
		unix.Close(fd)
	}
	return -1, process{}, os.ErrProcessDone
}
