package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// bootID is read once: a process does not outlive its boot.
var bootID = sync.OnceValues(func() ([]byte, error) {
	return os.ReadFile("/proc/sys/kernel/random/boot_id")
})

func startMarker(pid int) (string, error) {
	boot, err := bootID()
	if err != nil {
		// Not wrapped: that this file is missing says nothing of the process.
		return "", fmt.Errorf("the start of process %d: %v", pid, err)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, syscall.ESRCH) {
		err = fs.ErrNotExist // it ended between the opening and the reading
	}
	if err != nil {
		return "", fmt.Errorf("the start of process %d: %w", pid, err)
	}
	marker, err := linuxMarker(stat, boot)
	if err != nil {
		return "", fmt.Errorf("the start of process %d: %w", pid, err)
	}
	return marker, nil
}
