package tool

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// environ is the environment of every tool, of the proxy's own: what lnk
// sandbox run gives a program, and what finds the services of the session.
// Nothing of it comes from inside, nothing points at the sandbox's proxy, and
// nothing that names files is where the program writes, which beside says: what
// a tool starts by its name would be the program's. A pager only shows.
func environ(own []string, beside route.Beside) []string {
	var env []string
	for _, v := range own {
		name, value, ok := strings.Cut(v, "=")
		switch {
		case !ok || strings.ContainsRune(v, 0):
		case name == "PWD": // the working folder is the call's
		case name == "PATH":
			env = append(env, "PATH="+strings.Join(outside(value, beside), ":"))
		case name == "PAGER" && !guarded(value): // what is shown by default is left to the tool
		case strings.HasPrefix(name, "XDG_") && strings.HasPrefix(value, "/") && len(outside(value, beside)) <= strings.Count(value, ":"):
			// It names what the program writes. Without it its default holds.
		case route.KeptByRun(name) || slices.Contains(ofSession, name):
			env = append(env, v)
		}
	}
	return append(env, pagerGuard...)
}

// pagerGuard takes from less what else it does than show: the program is at the
// keyboard of a tool's terminal, and less would start a shell for it, an editor,
// and write files (less(1), SECURITY). What systemd's programs take from less
// themselves is asked for in their own way.
var pagerGuard = []string{"LESSSECURE=1", "SYSTEMD_PAGERSECURE=1"}

// guarded says whether a pager does nothing else than show, with pagerGuard.
func guarded(pager string) bool {
	words := strings.Fields(pager)
	return len(words) == 0 || slices.Contains([]string{"less", "cat"}, filepath.Base(words[0]))
}

// outside is the folders of a PATH that the program can put nothing in: not its
// own names, not what it writes, and not the folder that a call starts in,
// which an empty or relative entry means.
func outside(path string, beside route.Beside) []string {
	return slices.DeleteFunc(strings.Split(path, ":"), func(dir string) bool {
		if !filepath.IsAbs(dir) || strings.HasPrefix(dir+"/", ownFolder) {
			return true
		}
		_, writes := beside.Writes(filepath.Clean(dir))
		return writes
	})
}

// maxFirstLine is how much of a program is read for its first line: what the
// kernel reads of it (BINPRM_BUF_SIZE, since Linux 5.1).
const maxFirstLine = 256

// Check refuses a tool that the program inside could replace: a script that the
// tool's own words name in full ("bash /srv/project/deploy.sh"), or, where the tool is
// a script itself, the interpreter that its first line names; or a module that
// Python is told to look for. What a wrapper starts (env, timeout) is looked at
// as the tool itself.
func (h *Host) Check(t route.Tool) error {
	for argv := t.Argv; len(argv) > 0; argv = started(argv) {
		if err := h.checkOne(argv); err != nil {
			return err
		}
	}
	return nil
}

// settings are options of shells and of Python behind which a word stands that
// is no script.
var settings = []string{"-o", "+o", "-O", "+O", "-W", "-X"}

func (h *Host) checkOne(argv []string) error {
	if option, is := fromHere(argv); is {
		return fmt.Errorf("%s %s: looks for modules in the folder that a call is made in first, so that the program could replace them: put -P before it (Python 3.11), or -I", argv[0], option)
	}
	for i, word := range argv {
		if i == 0 && !filepath.IsAbs(word) || strings.HasPrefix(word, "-") || slices.Contains(settings, word) {
			continue
		}
		if filepath.IsAbs(word) {
			word = filepath.Clean(word)
			info, err := os.Stat(word)
			if w, writes := h.beside.Writes(word); writes && (err != nil || info.Mode().IsRegular()) {
				return fmt.Errorf("%s: told to take %s, in %s, which the program writes and so could replace it", argv[0], word, w)
			}
		}
		if i > 0 && !slices.Contains(settings, argv[i-1]) {
			break // what follows is what the script is given
		}
	}
	at := argv[0]
	if !filepath.IsAbs(at) {
		at = h.Find(at)
	}
	f, err := os.Open(at)
	if err != nil {
		return nil // what cannot be read is no script, and what is not there is said when it is called
	}
	defer f.Close()
	line := make([]byte, maxFirstLine)
	n, _ := io.ReadFull(f, line)
	text, _, _ := strings.Cut(string(line[:n]), "\n")
	rest, script := strings.CutPrefix(text, "#!")
	if !script {
		return nil
	}
	for i, word := range strings.Fields(rest) {
		if i == 0 && !filepath.IsAbs(word) {
			return fmt.Errorf("%s: started by %s, which is looked for in the folder that a call is made in (execve(2)), so that the program could replace it: name it in full", argv[0], word)
		}
		if !filepath.IsAbs(word) {
			continue
		}
		if w, writes := h.beside.Writes(filepath.Clean(word)); writes {
			return fmt.Errorf("%s: started by %s, in %s, which the program writes and so could replace it", argv[0], word, w)
		}
	}
	return nil
}

// Find gives the program of a name on the PATH that tools have, or "".
func (h *Host) Find(name string) string {
	for _, v := range h.environ {
		path, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			at := filepath.Join(dir, name)
			info, err := os.Stat(at)
			if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
				continue
			}
			if _, writes := h.beside.Writes(at); !writes {
				return at
			}
		}
	}
	return ""
}

// environFor is the environment of a tool that starts in a folder.
func (h *Host) environFor(f *folder) []string {
	env := append(h.environ[:len(h.environ):len(h.environ)], "PWD="+f.path)
	if f.written {
		env = append(env, gitGuard(trusted(h.safe, h.said(), isMine))...)
	}
	return append(env, pagerGuard...)
}
