package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A Process is one that a run of the tests has left.
type Process struct {
	PID     int
	Command string
}

// Left finds the processes that a run has left: those of a user that has no
// business here but the run, and those that name the run's own folder in their
// program, arguments, working folder or environment. An ended process that
// waits for its parent is not left.
func Left(uid int, folder string) ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var left []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || pid == os.Getppid() {
			continue
		}
		dir := filepath.Join("/proc", e.Name())
		if ended(dir) {
			continue
		}
		if owned(dir, uid) || folder != "" && names(dir, folder) {
			left = append(left, Process{pid, command(dir)})
		}
	}
	return left, nil
}

// Kill ends a process that was left.
func (p Process) Kill() error { return syscall.Kill(p.PID, syscall.SIGKILL) }

func (p Process) String() string { return fmt.Sprintf("process %d: %s", p.PID, p.Command) }

// ended says whether a process is gone or a zombie: the third field of stat,
// behind the name, which may hold anything (proc(5)).
func ended(dir string) bool {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return true
	}
	_, rest, found := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	return !found || strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// owned says whether a process is a user's. Nobody's is root's for this: root
// has much business of its own.
func owned(dir string, uid int) bool {
	var stat syscall.Stat_t
	return uid != 0 && uid != os.Getuid() && syscall.Stat(dir, &stat) == nil && int(stat.Uid) == uid
}

// names says whether what a process is made of names the folder.
func names(dir, folder string) bool {
	for _, link := range []string{"exe", "cwd"} {
		if to, err := os.Readlink(filepath.Join(dir, link)); err == nil && strings.HasPrefix(to+"/", folder+"/") {
			return true
		}
	}
	for _, name := range []string{"cmdline", "environ"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && strings.Contains(string(text), folder+"/") {
			return true
		}
	}
	return false
}

func command(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return err.Error()
	}
	words := strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
	return words[:min(len(words), 200)]
}
