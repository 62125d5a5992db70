package tool

import (
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// ofSession is what programs of a user's session find its services by, beside
// what every program is given: the agents that hold keys, the bus that holds
// the keyring, the display that a browser shows a page on.
var ofSession = []string{
	"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
	"XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
	"DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
}

// ownFolder starts the paths that are the sandbox's own: no tool is looked for
// there.
const ownFolder = "/run/lnk/"

// Environ is the environment of every tool, of the proxy's own: what lnk
// sandbox run gives a program, and what finds the services of the session.
// Nothing of it comes from inside, and nothing points at the sandbox's proxy.
func Environ(own []string) []string {
	var env []string
	for _, v := range own {
		name, value, ok := strings.Cut(v, "=")
		switch {
		case !ok || strings.ContainsRune(v, 0):
		case name == "PWD": // the working folder is the call's
		case name == "PATH":
			env = append(env, "PATH="+outside(value))
		case route.KeptByRun(name) || slices.Contains(ofSession, name):
			env = append(env, v)
		}
	}
	return env
}

// outside is PATH without the folder of the names inside.
func outside(path string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(path, ":"), func(dir string) bool {
		return strings.HasPrefix(dir+"/", ownFolder)
	}), ":")
}

// environFor is the environment of a tool that starts in a folder.
func (h *Host) environFor(f *folder) []string {
	env := append(h.environ[:len(h.environ):len(h.environ)], "PWD="+f.path)
	if f.written {
		env = append(env, h.guard...)
	}
	return env
}
