package launch

import (
	"strconv"
	"strings"
	"syscall"
)

// A process is what /proc/PID/status says of one.
type process struct {
	state   byte // R, S, D, T (stopped), t (traced), Z, …
	parent  int
	inner   int // its number in its own pid namespace
	group   int // its process group, in ours
	depth   int // how many pid namespaces it has a number in
	ignored uint64
	caught  uint64
}

// readStatus reads /proc/PID/status (proc_pid_status(5)). What is missing stays
// zero.
func readStatus(text string) process {
	var p process
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		words := strings.Fields(value)
		if len(words) == 0 {
			continue
		}
		switch key {
		case "State":
			p.state = words[0][0]
		case "PPid":
			p.parent, _ = strconv.Atoi(words[0])
		case "NSpid":
			p.depth = len(words)
			p.inner, _ = strconv.Atoi(words[len(words)-1])
		case "NSpgid":
			p.group, _ = strconv.Atoi(words[0])
		case "SigIgn":
			p.ignored, _ = strconv.ParseUint(words[0], 16, 64)
		case "SigCgt":
			p.caught, _ = strconv.ParseUint(words[0], 16, 64)
		}
	}
	return p
}

func (p process) ignores(s syscall.Signal) bool { return p.ignored>>(s-1)&1 != 0 }
func (p process) catches(s syscall.Signal) bool { return p.caught>>(s-1)&1 != 0 }
func (p process) stopped() bool                 { return p.state == 'T' || p.state == 't' }

// readPIDs reads /proc/PID/task/TID/children, the oldest child first.
func readPIDs(text string) []int {
	var pids []int
	for _, word := range strings.Fields(text) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// readExecuted says whether bubblewrap's status (--json-status-fd) holds the
// program's exit code, which it does only when the program was executed.
func readExecuted(status string) bool { return strings.Contains(status, `"exit-code"`) }

// readChild gives the process that bubblewrap says it started, or 0.
func readChild(status string) int {
	_, rest, _ := strings.Cut(status, `"child-pid":`)
	rest = strings.TrimLeft(rest, " ")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return 0
	}
	pid, _ := strconv.Atoi(rest[:end])
	return pid
}
