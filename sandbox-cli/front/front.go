package front

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

const prefix = "lnk-"

var pluginName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// ErrNoPlugin is wrapped by find when no folder holds the plugin.
var ErrNoPlugin = errors.New("no such plugin")

// Main runs `lnk <args>` and gives the exit status: that of the plugin, which
// replaces this process, 127 when it is not there, 2 when nothing is named.
func Main(args []string, out, errs io.Writer) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		fmt.Fprintln(out, "usage: lnk <plugin> <args>\n       lnk plugin list\n       lnk plugin install <name>")
		if len(args) == 0 {
			return 2
		}
		return 0
	}
	switch args[0] {
	case "plugin":
		return plugin(args[1:], out, errs)
	case complete, completeBare:
		return completed(args[0], args[1:], out)
	}
	path, err := find(args[0])
	if err != nil {
		fmt.Fprintf(errs, "lnk: %v\n", err)
		return 127
	}
	err = syscall.Exec(path, append([]string{path}, args[1:]...), os.Environ())
	fmt.Fprintf(errs, "lnk: %s: %v\n", path, err)
	return 126
}

// IsName says whether a word can be a plugin's name.
func IsName(word string) bool { return pluginName.MatchString(word) }

// find gives the path of the plugin's binary, beside this one or on PATH.
func find(name string) (string, error) {
	if !IsName(name) {
		return "", fmt.Errorf("%q: not a plugin's name: want lower-case letters, digits and hyphens", name)
	}
	for _, dir := range folders() {
		path := filepath.Join(dir, prefix+name)
		if executable(path) {
			return path, nil
		}
	}
	if _, err := own(); err != nil {
		return "", fmt.Errorf("%s: %w on PATH, and where lnk stands is not known: %v: is there a /proc? (mount -t proc proc /proc)", name, ErrNoPlugin, err)
	}
	return "", fmt.Errorf("%s: %w: neither beside lnk nor on PATH; `lnk plugin list` shows what there is", name, ErrNoPlugin)
}

// own gives the path of this binary; a variable, so that a test can take /proc
// away.
var own = os.Executable

// folders are where plugins are looked for, in order. Relative entries of PATH
// are left out: they would run what the current folder happens to hold.
func folders() []string {
	var dirs []string
	if self, err := own(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		dirs = append(dirs, filepath.Dir(self))
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// list names the plugins that find would find, sorted, each once.
func list() []string {
	var names []string
	for _, dir := range folders() {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, e := range entries {
			name, ok := strings.CutPrefix(e.Name(), prefix)
			if ok && pluginName.MatchString(name) && executable(filepath.Join(dir, e.Name())) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
