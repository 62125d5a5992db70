package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
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

// bySockets are measured without a sandbox: by the socket of a proxy in a folder,
// and by a relay to it.
var bySockets = []comparison{
	{"down, one tunnel", load{via: "connect", what: "bulk", workers: 1}, "MB/s"},
	{"down, eight tunnels", load{via: "connect", what: "bulk", workers: 8}, "MB/s"},
	{"up, one tunnel", load{via: "connect", what: "sink", workers: 1}, "MB/s"},
}

// idleTunnels are held open to see what one costs.
const idleTunnels = 400

// proxyBench measures what the proxy carries, from inside a sandbox, beside the
// same without one, in one run. Loads of the two take turns.
func proxyBench(ctx context.Context, rounds int) error {
	r, err := newRig(ctx)
	if err != nil {
		return err
	}
	defer r.close()
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
	peers, stop := startPeers(ctx, r.dir)
	defer stop()
	own, stopOwn, err := r.unwalled(ctx, at)
	if err != nil {
		return err
	}
	defer stopOwn()
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "ratio\there\tdirect\tunit\tp50 µs\tdirect\tp99 µs\tdirect\tproxy CPU\t  what\n")
	for _, c := range comparisons {
		ways := []way{{c.name, r.sandboxed(self), false}}
		if c.load.via != "port" {
			ways = append(ways, way{"  the same without a sandbox", r.by(own.loopback, self), false})
			for _, p := range peers {
				ways = append(ways, way{"  the same by " + p.name, r.by(p, self), true})
			}
		}
		if err := r.line(ctx, t, self, at, c, ways, rounds); err != nil {
			return err
		}
	}
	for _, c := range bySockets {
		ways := []way{{c.name + ", by a socket in a folder", r.by(own.socket, self), false}, {c.name + ", by a relay to it", r.by(own.relay, self), false}}
		if err := r.line(ctx, t, self, at, c, ways, rounds); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if strings.Contains("idle tunnels", only) {
		if err := r.idle(ctx, self, at); err != nil {
			return err
		}
	}
	if !strings.Contains("names inside", only) {
		return nil
	}
	return r.names(ctx, self, rounds)
}

// line measures a load each way, beside doing it directly, and writes a line of
// each.
func (r *rig) line(ctx context.Context, t io.Writer, self, at string, c comparison, ways []way, rounds int) error {
	if !slices.ContainsFunc(ways, func(w way) bool { return strings.Contains(w.name, only) }) {
		return nil
	}
	c.load.to, c.load.duration = at, lasts
	got, err := compare(ctx, append([]way{{"direct", r.direct(self), false}}, ways...), c.load, rounds)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	direct := got[0]
	for i, m := range got[1:] {
		if m.Bytes+m.Calls == 0 {
			fmt.Fprintf(t, "-\t-\t-\t-\t-\t-\t-\t-\t-\t  %s: it cannot\n", ways[i].name)
			continue
		}
		fmt.Fprintf(t, "%.2f\t%.0f\t%.0f\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t  %s\n",
			m.rate(c.unit)/direct.rate(c.unit), m.rate(c.unit), direct.rate(c.unit), c.unit,
			m.P50, direct.P50, m.P99, direct.P99, m.cost(c.unit), ways[i].name)
	}
	return nil
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

// A way is one to do a load.
type way struct {
	name    string
	measure func(context.Context, load) (measured, error)
	others  bool // somebody else's: what it cannot do is left out
}

// compare gives the medians, by rate, of a load each way, of no calls and bytes
// where it could not be done. The ways take turns.
func compare(ctx context.Context, ways []way, l load, rounds int) ([]measured, error) {
	all := make([][]measured, len(ways))
	for range rounds {
		for i, w := range ways {
			m, err := w.measure(ctx, l)
			if err != nil && w.others && ctx.Err() == nil {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			all[i] = append(all[i], m)
		}
	}
	middle := make([]measured, len(ways))
	for i, got := range all {
		slices.SortFunc(got, func(a, b measured) int {
			return int(a.Bytes + a.Calls - b.Bytes - b.Calls)
		})
		if len(got) > 0 {
			middle[i] = got[len(got)/2]
		}
	}
	return middle, nil
}

func (l load) args() []string {
	return []string{
		"load", "-via", l.via, "-to", l.to, "-what", l.what, "-workers", strconv.Itoa(l.workers),
		"-idle", strconv.Itoa(l.idle), "-for", l.duration.String(),
	}
}

// sandboxed does a load in a sandbox that reaches the origin's port alone.
func (r *rig) sandboxed(self string) func(context.Context, load) (measured, error) {
	return func(ctx context.Context, l load) (measured, error) {
		_, port, err := net.SplitHostPort(l.to)
		if err != nil {
			return measured{}, err
		}
		argv := []string{filepath.Join(r.bin, "lnk"), "sandbox", "run", "--yes", "--write", r.project, "--read", self, "--port", port, "--", self}
		return r.measure(ctx, append(argv, l.args()...), r.env, 0)
	}
}

// direct does it without one.
func (r *rig) direct(self string) func(context.Context, load) (measured, error) {
	return func(ctx context.Context, l load) (measured, error) {
		l.via = "direct"
		return r.measure(ctx, append([]string{self}, l.args()...), r.env, 0)
	}
}

// measure runs a load, and reads what the proxy spends between its beginning
// and its end: the process of that number, or the first of the load's own,
// which is the proxy where there is a sandbox: it is who starts the rest.
func (r *rig) measure(ctx context.Context, argv, env []string, proxy int) (m measured, err error) {
	ctx, cancel := context.WithTimeout(ctx, one)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.project, env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return m, err
	}
	if err := cmd.Start(); err != nil {
		return m, err
	}
	if proxy == 0 {
		proxy = cmd.Process.Pid
	}
	var begun time.Duration
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch line := lines.Text(); line {
		case lineBegin:
			begun = spent(proxy)
		case lineEnd:
			m.cpu = spent(proxy) - begun
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
