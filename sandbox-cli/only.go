package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// programs gives what --only names as paths: a name with no slash is a program
// on PATH, the first that the sandbox will see.
func (f runFlags) programs(spec *client.Spec, folder string) ([]string, error) {
	var paths []string
	for _, name := range f.only {
		switch {
		case name == "":
			return nil, refuse("--only: empty, name a program or a folder of programs (of a variable, see that it is set)")
		case !strings.Contains(name, "/") && !slices.Contains([]string{".", "..", "~"}, name):
			found := onPath(name, spec)
			if found == "" {
				return nil, refuse("--only %s: not found on PATH: name it by its path, as ./%s", name, name)
			}
			name = found
		case !filepath.IsAbs(name) && !strings.HasPrefix(name, "~"):
			name = filepath.Join(folder, name)
		}
		paths = append(paths, name)
	}
	return paths, nil
}

// onPath finds a program: the first on PATH that will be in view, else the
// first; "" is none.
func onPath(name string, spec *client.Spec) string {
	home, _ := homeFolder()
	seen := func(file string) bool {
		if spec.Files.ReadHome || spec.Program.DeveloperTools || home == "" || !within(file, home) {
			return true
		}
		return slices.ContainsFunc(slices.Concat(spec.Files.Write, spec.Files.Read), func(p string) bool { return within(file, p) })
	}
	first := ""
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if !filepath.IsAbs(dir) || err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if seen(file) {
			return file
		}
		if first == "" {
			first = file
		}
	}
	return first
}
