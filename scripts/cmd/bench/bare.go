package main

import (
	"fmt"
	"slices"
)

// dropped are options that a bare bubblewrap is measured without, each with one
// descriptor: the filter, what keeps pace with it, and how it reports.
var dropped = []string{
	"--seccomp", "--add-seccomp-fd", "--sync-fd", "--json-status-fd", "--info-fd",
	"--block-fd", "--userns-block-fd",
}

// byDescriptor are options that take their source by descriptor, and the ones
// that mount the same by path.
var byDescriptor = map[string]string{
	"--bind-fd":      "--bind",
	"--ro-bind-fd":   "--ro-bind",
	"--bind-data":    "--bind",
	"--ro-bind-data": "--ro-bind",
	"--file":         "--ro-bind",
}

// bareOf makes the command of a bare bubblewrap from the one that a wall
// renders: the same options and mounts, sources by path instead of by
// descriptor, and nothing that needs a process beside it. A mount whose place is
// not there outside is one of our own binary, or of a text: any file mounts
// alike.
func bareOf(rendered []string, ours string, there func(string) bool) ([]string, error) {
	if len(rendered) == 0 {
		return nil, fmt.Errorf("the wall rendered nothing")
	}
	bare := []string{rendered[0]}
	for i := 1; i < len(rendered); i++ {
		option := rendered[i]
		if option == "--" {
			return append(bare, rendered[i:]...), nil
		}
		if slices.Contains(dropped, option) {
			i++
			continue
		}
		byPath, ok := byDescriptor[option]
		if !ok {
			bare = append(bare, option)
			continue
		}
		if i+2 >= len(rendered) {
			return nil, fmt.Errorf("%s: it has no descriptor and place behind it", option)
		}
		// A mode is of what an option makes; a mount has its source's, and
		// bubblewrap refuses one before it.
		if n := len(bare); bare[max(0, n-2)] == "--perms" {
			bare = bare[:n-2]
		}
		at := rendered[i+2]
		source := at
		if !there(at) {
			source = ours
		}
		bare = append(bare, byPath, source, at)
		i += 2
	}
	return nil, fmt.Errorf("the wall rendered no \"--\" before the program: %q", rendered)
}
