package tool

import (
	"path/filepath"
	"strings"
)

// A wrapper is a program that starts the one that its own words name.
type wrapper struct {
	with   string // the options of one letter that take an argument
	before int    // the words of its own in front of that program
}

// wrappers are those that coreutils, util-linux, sudo and OpenDoas have (their
// manual pages), by name.
var wrappers = map[string]wrapper{
	"env": {"uCS", 0}, "nice": {"n", 0}, "nohup": {}, "timeout": {"ks", 1}, "stdbuf": {"ioe", 0}, "time": {"fo", 0},
	"setsid": {}, "ionice": {"cnPu", 0}, "taskset": {"", 1}, "chrt": {"TPD", 1}, "prlimit": {},
	"sudo": {"CDghpRrtTUu", 0}, "doas": {"Cu", 0},
}

// started is the command line that a wrapper's words name; nil is none. What env
// parts itself (-S) is parted at spaces.
func started(argv []string) []string {
	of, is := wrappers[filepath.Base(argv[0])]
	if !is {
		return nil
	}
	left := of.before
	for i := 1; i < len(argv); i++ {
		word := argv[i]
		if whole, long := strings.CutPrefix(word, "--"); long {
			name, value, given := strings.Cut(whole, "=")
			if name == "split-string" && given {
				return append(strings.Fields(value), argv[i+1:]...)
			}
			continue
		}
		if len(word) > 1 && word[0] == '-' {
			at := strings.IndexAny(word[1:], of.with)
			if at < 0 {
				continue
			}
			argument := word[2+at:]
			if argument == "" && i+1 < len(argv) {
				i++
				argument = argv[i]
			}
			if word[1+at] == 'S' && filepath.Base(argv[0]) == "env" {
				return append(strings.Fields(argument), argv[i+1:]...)
			}
			continue
		}
		if name, _, variable := strings.Cut(word, "="); variable && !strings.Contains(name, "/") {
			continue
		}
		if left--; left < 0 {
			return argv[i:]
		}
	}
	return nil
}
