package stages

import (
	"path"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/shim"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// nameFlag names a tool that runs outside, which the program finds on its PATH.
const nameFlag = "--name-inside"

// NameArgs are the arguments by which the wall is told of names, behind its
// settings and home.
func NameArgs(names []string) []string {
	var args []string
	for _, name := range names {
		args = append(args, nameFlag, name)
	}
	return args
}

func parseNames(args []string) (names, rest []string) {
	for len(args) >= 2 && args[0] == nameFlag {
		names, args = append(names, args[1]), args[2:]
	}
	return names, args
}

// withNames puts the folder of the names first on the program's PATH: a tool
// that runs outside is found before a program of the same name in view.
func withNames(env, names []string) []string {
	if len(names) == 0 {
		return env
	}
	searched := usualPath
	out := make([]string, 0, len(env)+1)
	for _, v := range env {
		if value, is := strings.CutPrefix(v, "PATH="); is {
			searched = value
			continue
		}
		out = append(out, v)
	}
	return append(out, "PATH="+strings.TrimSuffix(linuxwall.NamesInside+":"+searched, ":"))
}

// withoutEmptyProxy takes out what the command line empties of a caller's
// variables, which it cannot take out itself: there are programs that fail on one
// of these that is empty (HTTP::Tiny, by which Perl's modules are fetched).
func withoutEmptyProxy(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return v == "ALL_PROXY=" || v == "all_proxy=" })
}

// usualPath is where programs are looked for when there is no PATH
// (execvp(3)).
const usualPath = "/bin:/usr/bin"

// Confined gives the confinement that the wall's command names, and the
// settings folder, which is closed in it.
func Confined(command []string) (c client.Confinement, settings string, ok bool) {
	if len(command) < 6 || command[1] != "wall" || command[2] != "--settings" || command[4] != "--home" {
		return c, "", false
	}
	_, args := parseMaker(command[6:])
	_, args, err := parseLimits(args)
	if err != nil {
		return c, "", false
	}
	_, args = parseNames(args)
	c, _, _, err = linuxwall.ParseArgs(args)
	return c, command[3], err == nil
}

// OwnNames are what our own programs are called, inside too: no tool can have
// them.
var OwnNames = []string{"lnk", "lnk-sandbox", binary, shim.Binary}

// Shim runs this process as a tool's name, where it was started as that.
func Shim(argv []string) (status int, is bool) {
	if len(argv) == 0 {
		return 0, false
	}
	if slices.Contains(OwnNames, path.Base(argv[0])) {
		return 0, false
	}
	call, is := shim.Called(argv)
	if !is {
		return 0, false
	}
	return call.Run(), true
}
