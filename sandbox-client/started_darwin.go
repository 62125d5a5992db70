package client

import (
	"fmt"
	"io/fs"
	"syscall"
	"unsafe"
)

func startMarker(pid int) (string, error) {
	// sysctl(3): CTL_KERN, KERN_PROC, KERN_PROC_PID.
	mib := [4]int32{1, 14, 1, int32(pid)}
	var info [1024]byte // a struct kinfo_proc is 648
	size := uintptr(len(info))
	_, _, errno := syscall.Syscall6(syscall.SYS___SYSCTL, uintptr(unsafe.Pointer(&mib[0])), uintptr(len(mib)),
		uintptr(unsafe.Pointer(&info[0])), uintptr(unsafe.Pointer(&size)), 0, 0)
	if errno != 0 {
		return "", fmt.Errorf("the start of process %d: %w", pid, errno)
	}
	if size == 0 {
		return "", fmt.Errorf("the start of process %d: %w", pid, fs.ErrNotExist)
	}
	marker, err := darwinMarker(info[:min(size, uintptr(len(info)))])
	if err != nil {
		return "", fmt.Errorf("the start of process %d: %w", pid, err)
	}
	return marker, nil
}
