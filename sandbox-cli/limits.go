package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/limits"
)

// limitFlags are limits given on the command line, each before the spec's.
type limitFlags struct {
	memory, cpu, tmp string
	processes        int
	given            *pflag.FlagSet
}

func (f *limitFlags) define(fl *pflag.FlagSet) {
	f.given = fl
	fl.StringVar(&f.memory, "memory", "", "the `size` of the memory that the program and its children may use together: 512M, 4G")
	fl.IntVar(&f.processes, "processes", 0, "the `number` of processes and threads that they may be")
	fl.StringVar(&f.cpu, "cpu", "", "their `share` of the processors: 50%, 200%")
	fl.StringVar(&f.tmp, "tmp", "", "the `size` of /tmp, and of each other file system of the sandbox's own: 64M, 2G")
}

// limited gives the limits of a run: the spec's, and those of the flags over
// them.
func (f runFlags) limited() (client.Limits, error) {
	var spec client.SpecLimits
	if f.spec.given() {
		read, err := f.spec.read()
		if err != nil {
			return client.Limits{}, err
		}
		spec = read.Limits
	}
	for name, set := range map[string]func(){
		"memory":    func() { spec.Memory = f.limits.memory },
		"cpu":       func() { spec.CPU = f.limits.cpu },
		"tmp":       func() { spec.Tmp = f.limits.tmp },
		"processes": func() { spec.Processes = &f.limits.processes },
	} {
		if !f.limits.given.Changed(name) {
			continue
		}
		if set(); name != "processes" && f.limits.given.Lookup(name).Value.String() == "" {
			return client.Limits{}, refuse("--%s: empty: want a limit, or leave it out", name)
		}
	}
	l, err := spec.Limits()
	if err != nil {
		// A flag is named as one.
		text := err.Error()
		if key, problem, ok := strings.Cut(strings.TrimPrefix(text, "limits."), ": "); ok && f.limits.given.Changed(key) {
			return l, refuse("--%s %s", key, problem)
		}
		return l, err
	}
	return l, nil
}

// limitLine says what a run's limits are, or is empty.
func limitLine(l client.Limits) string {
	var parts []string
	for _, p := range []struct {
		there bool
		says  string
	}{
		{l.Memory > 0, "memory " + limits.Size(l.Memory)},
		{l.Processes > 0, fmt.Sprintf("%d processes", l.Processes)},
		{l.CPU > 0, fmt.Sprintf("processors %d%%", l.CPU)},
		{l.Tmp > 0, "temporary files " + limits.Size(l.Tmp)},
	} {
		if p.there {
			parts = append(parts, p.says)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "uses at most " + strings.Join(parts, ", ")
}
