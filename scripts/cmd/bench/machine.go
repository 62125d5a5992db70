package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine says what was measured on: times mean nothing without it.
func machine(ctx context.Context) string {
	kernel := firstLine("/proc/sys/kernel/osrelease")
	version, err := exec.CommandContext(ctx, "bwrap", "--version").Output()
	if err != nil {
		version = []byte("no bubblewrap")
	}
	return fmt.Sprintf("uid %d, Linux %s, %s, %d cores, %s",
		os.Getuid(), kernel, strings.TrimSpace(string(version)), runtime.NumCPU(), runtime.Version())
}

// loadAverage is the machine's load of the last minute.
func loadAverage() string {
	one, _, _ := strings.Cut(firstLine("/proc/loadavg"), " ")
	return one
}

func firstLine(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
