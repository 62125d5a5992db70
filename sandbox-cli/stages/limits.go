package stages

import (
	"fmt"
	"strconv"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// limitFlags are the wall stage's flags of limits: numbers, in bytes, processes
// and percent of a processor. They stand behind its folders.
var limitFlags = []struct {
	flag string
	of   func(*client.Limits) (small *int, large *int64)
}{
	{"--limit-memory", func(l *client.Limits) (*int, *int64) { return nil, &l.Memory }},
	{"--limit-processes", func(l *client.Limits) (*int, *int64) { return &l.Processes, nil }},
	{"--limit-cpu", func(l *client.Limits) (*int, *int64) { return &l.CPU, nil }},
	{"--limit-tmp", func(l *client.Limits) (*int, *int64) { return nil, &l.Tmp }},
}

// LimitArgs gives the wall stage's flags for limits: a confinement has no
// member for them, so they are handed on beside it.
func LimitArgs(l client.Limits) []string {
	var args []string
	for _, f := range limitFlags {
		small, large := f.of(&l)
		switch {
		case small != nil && *small != 0:
			args = append(args, f.flag, strconv.Itoa(*small))
		case large != nil && *large != 0:
			args = append(args, f.flag, strconv.FormatInt(*large, 10))
		}
	}
	return args
}

// parseLimits reads what LimitArgs wrote, and gives what stands behind it.
func parseLimits(args []string) (l client.Limits, rest []string, err error) {
	for _, f := range limitFlags {
		if len(args) < 2 || args[0] != f.flag {
			continue
		}
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || n < 1 || n != int64(int(n)) {
			return l, nil, fmt.Errorf("%s: %q: want a number", f.flag, args[1])
		}
		if small, large := f.of(&l); small != nil {
			*small = int(n)
		} else {
			*large = n
		}
		args = args[2:]
	}
	return l, args, nil
}
