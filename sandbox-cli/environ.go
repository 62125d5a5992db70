package cli

import (
	"maps"
	"slices"
	"strings"
)

// kept are the variables of the caller's environment that `run` passes on.
// Everything else stays outside: an environment is where people keep tokens.
var kept = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "LANG", "TZ",
	"PWD", "EDITOR", "PAGER", "NO_COLOR", "CI",
}

// keptPrefix are kept whatever follows: the locale's categories.
const keptPrefix = "LC_"

func keeps(name string) bool {
	return slices.Contains(kept, name) || strings.HasPrefix(name, keptPrefix)
}

// scrubbed is the environment of a program under `run`: what is kept of the
// caller's, and what the chain adds over it. Sorted, so that it is the same
// each time.
func scrubbed(caller []string, add map[string]string) []string {
	env := map[string]string{}
	for _, v := range caller {
		if name, value, ok := strings.Cut(v, "="); ok && keeps(name) {
			env[name] = value
		}
	}
	maps.Copy(env, add)
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}
