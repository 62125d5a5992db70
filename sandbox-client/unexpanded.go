package client

import (
	"regexp"
	"strings"
)

// What a shell puts other words for: braces with a choice in them (Bash's manual,
// Brace Expansion), variables, and other users' homes at a path's start, which
// stand behind a folder once the path is in full.
var (
	braces    = regexp.MustCompile(`\{[^{}/]*(?:,|\.\.)[^{}/]*\}`)
	variables = regexp.MustCompile(`(?:^|/)\$[A-Za-z_]|\$\{`)
	homes     = regexp.MustCompile(`(?:^|/)~[a-z_][a-z0-9_-]*(?:/|$)|/~/`)
)

// Unexpanded says of a path what in it a shell would have expanded, and nothing
// here does: a half sentence with what to do, or nothing. Files may be called so
// too: ask only of what is not there.
func Unexpanded(path string) string {
	switch {
	case strings.ContainsAny(path, "*?["), braces.MatchString(path):
		return "patterns are not expanded: name each file or folder"
	case variables.MatchString(path):
		return "variables are not expanded: write the path in full"
	case homes.MatchString(path):
		return "~ is your own home, at the start alone: write the path in full"
	}
	return ""
}
