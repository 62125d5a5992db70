package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// lasts is how long one load is measured, once.
const lasts = 1500 * time.Millisecond

// A comparison is one line of the table: a load from inside a sandbox, and the
// same without one.
type comparison struct {
	name string
	load load
	unit string // MB/s or calls/s
}

// comparisons are what is measured. Tunnels are CONNECTs to the proxy inside;
// "a port" is a connection that knows of no proxy and is carried.
var comparisons = []comparison{
	{"down, one tunnel", load{via: "connect", what: "bulk", workers: 1}, "MB/s"},
	{"down, one tunnel, 200 idle beside", load{via: "connect", what: "bulk", workers: 1, idle: 200}, "MB/s"},
	{"down, eight tunnels", load{via: "connect", what: "bulk", workers: 8}, "MB/s"},
	{"up, one tunnel", load{via: "connect", what: "sink", workers: 1}, "MB/s"},
	{"new tunnels, one at a time", load{via: "connect", what: "new", workers: 1}, "calls/s"},
	{"new tunnels, sixteen at a time", load{via: "connect", what: "new", workers: 16}, "calls/s"},
	{"requests kept in sixteen tunnels", load{via: "connect", what: "kept", workers: 16}, "calls/s"},
	{"plain http, sixteen kept", load{via: "plain", what: "kept", workers: 16}, "calls/s"},
	{"carried connections to a port", load{via: "port", what: "new", workers: 1}, "calls/s"},
}

// idleTunnels are held open to see what one costs.
const idleTunnels = 400

// proxyBench measures what the proxy carries, from inside a sandbox, beside the
// same without one, in one run. Loads of the two take turns.
func proxyBench(ctx context.Context, rounds int) error {
	w, err := workspace.Find(".")
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, filepath.Join(w.Root, "scripts", "build")).CombinedOutput(); err != nil {
		return fmt.Errorf("scripts/build: %w: %s", err, out)
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := newRig(w, dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	origin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer origin.Close()
	go serveOrigin(origin)
	at := origin.Addr().String()
	fmt.Printf("%s; %d rounds of %v\n", machine(ctx), rounds, lasts)
	fmt.Printf("load %s before: a busy machine slows all and hides what differs\n", loadAverage())
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "ratio\tinside\tdirect\tunit\tp50 µs\tdirect\tp99 µs\tdirect\tproxy CPU\t  what\n")
	for _, c := range comparisons {
		c.load.to, c.load.duration = at, lasts
		inside, direct, err := r.compare(ctx, self, c.load, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(t, "%.2f\t%.0f\t%.0f\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t  %s\n",
			inside.rate(c.unit)/direct.rate(c.unit), inside.rate(c.unit), direct.rate(c.unit), c.unit,
			inside.P50, direct.P50, inside.P99, direct.P99, inside.cost(c.unit), c.name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return r.idle(ctx, self, at)
}

// A measured is a result and what the proxy spent on it.
type measured struct {
	result
	cpu time.Duration
}

func (m measured) rate(unit string) float64 {
	if unit == "MB/s" {
		return float64(m.Bytes) / 1e6 / m.Seconds
	}
	return float64(m.Calls) / m.Seconds
}

// cost is the processor time of the proxy: a GiB, or a call.
func (m measured) cost(unit string) string {
	if unit == "MB/s" {
		return fmt.Sprintf("%.2f s/GiB", m.cpu.Seconds()/(float64(m.Bytes)/(1<<30)))
	}
	return fmt.Sprintf("%.0f µs", float64(m.cpu.Microseconds())/float64(m.Calls))
}

// compare gives the medians, by rate, of a load inside and without a sandbox.
func (r *rig) compare(ctx context.Context, self string, l load, rounds int) (inside, direct measured, err error) {
	var in, out []measured
	for range rounds {
		m, err := r.inside(ctx, self, l)
		if err != nil {
			return inside, direct, err
		}
		in = append(in, m)
		without := l
		without.via = "direct"
		if m, err = r.measure(ctx, append([]string{self}, without.args()...)); err != nil {
			return inside, direct, err
		}
		out = append(out, m)
	}
	middle := func(all []measured) measured {
		slices.SortFunc(all, func(a, b measured) int {
			return int(a.Bytes + a.Calls - b.Bytes - b.Calls)
		})
		return all[len(all)/2]
	}
	return middle(in), middle(out), nil
}

func (l load) args() []string {
	return []string{
		"load", "-via", l.via, "-to", l.to, "-what", l.what, "-workers", strconv.Itoa(l.workers),
		"-idle", strconv.Itoa(l.idle), "-for", l.duration.String(),
	}
}

// inside does a load in a sandbox that reaches the origin's port alone.
func (r *rig) inside(ctx context.Context, self string, l load) (measured, error) {
	_, port, err := net.SplitHostPort(l.to)
	if err != nil {
		return measured{}, err
	}
	argv := []string{filepath.Join(r.bin, "lnk"), "sandbox", "run", "--yes", "--write", r.project, "--read", self, "--port", port, "--", self}
	return r.measure(ctx, append(argv, l.args()...))
}

// measure runs a load, and reads what its first process (the proxy, where there
// is one: it is who starts the rest) spends between its beginning and its end.
func (r *rig) measure(ctx context.Context, argv []string) (m measured, err error) {
	ctx, cancel := context.WithTimeout(ctx, one)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.project, r.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return m, err
	}
	if err := cmd.Start(); err != nil {
		return m, err
	}
	var begun time.Duration
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch line := lines.Text(); line {
		case lineBegin:
			begun = spent(cmd.Process.Pid)
		case lineEnd:
			m.cpu = spent(cmd.Process.Pid) - begun
		default:
			err = json.Unmarshal([]byte(line), &m.result)
		}
	}
	if waited := cmd.Wait(); waited != nil {
		return m, fmt.Errorf("%w: %s", waited, said.Bytes())
	}
	return m, err
}

// tick is the unit of processor times in proc(5): USER_HZ, 100 on every
// architecture that we build for.
const tick = 10 * time.Millisecond

// spent is the processor time that a process has used, of itself alone.
func spent(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// Behind the name, which may hold anything: state is the first field,
	// utime the 12th, stime the 13th.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}
