package launch

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxProcText bounds what is read of one file of /proc.
const maxProcText = 64 << 10

func procText(pid int, name string) (string, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxProcText))
	return string(text), err
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
	for _, pid := range children(b.pid) {
		return pid
	}
	return 0
}

// program opens the program's process: the second of its pid namespace, and a
// child of the first. The number 2 is given out once, since numbers that wrap
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
