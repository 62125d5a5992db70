package client

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// StartMarker gives what tells a process from a later one with its id: letters
// and digits. It is [io/fs.ErrNotExist] when no process has the id. A proxy
// asks it for its own name of a record, a reader for whether that still runs.
func StartMarker(pid int) (string, error) {
	if pid < 1 {
		return "", fmt.Errorf("process %d: not the id of a process", pid)
	}
	return startMarker(pid)
}

// linuxMarker makes a marker of /proc/<pid>/stat, whose field 22 is the start
// in clock ticks since boot (proc_pid_stat(5)), and of the boot's own id, since
// a machine that starts the same way twice counts the same ticks.
func linuxMarker(stat, bootID []byte) (string, error) {
	// Field 2, the name in brackets, may hold spaces and brackets of its own.
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	const start = 22 - 3 // the first field after the name is field 3
	if end < 0 || len(fields) <= start {
		return "", errors.New("a stat file of another form")
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return "", fmt.Errorf("it has ended: %w", fs.ErrNotExist)
	}
	ticks, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return "", errors.New("a stat file of another form")
	}
	boot, _, _ := strings.Cut(strings.TrimSpace(string(bootID)), "-")
	if _, err := strconv.ParseUint(boot, 16, 64); err != nil {
		return "", errors.New("a boot id of another form")
	}
	return strconv.FormatUint(ticks, 10) + "x" + boot, nil
}

// darwinMarker makes a marker of a struct kinfo_proc, which starts with the
// process's start, a struct timeval: 8 bytes of seconds, 4 of microseconds
// (sys/proc.h, little-endian on both of its machines).
func darwinMarker(info []byte) (string, error) {
	if len(info) < 12 {
		return "", errors.New("a kinfo_proc of another form")
	}
	sec := binary.LittleEndian.Uint64(info)
	usec := binary.LittleEndian.Uint32(info[8:])
	if sec == 0 || usec >= 1_000_000 {
		return "", errors.New("a kinfo_proc of another form")
	}
	return strconv.FormatUint(sec, 10) + "x" + strconv.FormatUint(uint64(usec), 10), nil
}
