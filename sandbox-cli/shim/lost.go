package shim

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// ownFolder is where the wall puts what is started under a tool's name.
	ownFolder = "/run/lnk/"
	// maxEnvironment bounds what is read of one process's environment: what
	// the kernel lets a program be started with, at its usual stack (execve(2)).
	maxEnvironment = 2 << 20
)

// addressFor gives the address that a variable holds: in this process's
// environment, or, where who started it gave it another (clients of MCP do, with
// half a dozen names in it), in that of the sandbox's oldest process that has
// one. All processes in view are of this sandbox, and may know it.
func addressFor(variable string) string {
	if v := os.Getenv(variable); v != "" {
		return v
	}
	if exe, err := os.Executable(); err != nil || !strings.HasPrefix(exe, ownFolder) {
		return "" // this is no sandbox of ours, or nothing that was put in it
	}
	return inEnvironments("/proc", variable)
}

// inEnvironments looks a variable up in the environments of a proc(5).
func inEnvironments(proc, variable string) string {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return ""
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	for _, pid := range pids {
		f, err := os.Open(filepath.Join(proc, strconv.Itoa(pid), "environ"))
		if err != nil {
			continue // it has ended, or shows itself to nobody
		}
		b, _ := io.ReadAll(io.LimitReader(f, maxEnvironment))
		f.Close()
		for one := range bytes.SplitSeq(b, []byte{0}) {
			if v, is := strings.CutPrefix(string(one), variable+"="); is && v != "" {
				return v
			}
		}
	}
	return ""
}
