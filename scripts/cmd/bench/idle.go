package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// idle says what a tunnel costs that carries nothing: memory of the proxy's
// own, descriptors and processor time.
func (r *rig) idle(ctx context.Context, self, origin string) error {
	ctx, cancel := context.WithTimeout(ctx, one)
	defer cancel()
	_, port, err := net.SplitHostPort(origin)
	if err != nil {
		return err
	}
	l := load{via: "connect", to: origin, what: "idle", workers: 1, idle: idleTunnels, duration: lasts}
	argv := []string{"sandbox", "run", "--yes", "--write", r.project, "--read", self, "--port", port, "--", "sh", "-c", "echo none; read -r _; exec \"$@\"", "sh", self}
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, "lnk"), append(argv, l.args()...)...)
	cmd.Dir, cmd.Env = r.project, r.env
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	var before, with state
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch lines.Text() {
		case "none":
			before = stateOf(pid)
			in.Write([]byte("go\n"))
		case lineBegin:
			with = stateOf(pid)
		case lineEnd:
			after := stateOf(pid)
			fmt.Printf("%d idle tunnels: %.1f KiB of the proxy's memory and %.1f descriptors each; %v of processor time in %v\n",
				idleTunnels, float64(with.kib-before.kib)/idleTunnels, float64(with.files-before.files)/idleTunnels,
				after.cpu-with.cpu, lasts.Round(time.Millisecond))
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("idle: %w: %s", err, said.Bytes())
	}
	return nil
}

// A state is what a process holds.
type state struct {
	kib   int // proportional set size
	files int
	cpu   time.Duration
}

func stateOf(pid int) state {
	s := state{cpu: spent(pid)}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			s.kib, _ = strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	names, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	s.files = len(names)
	return s
}
