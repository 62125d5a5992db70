package cli

import (
	"path/filepath"
	"slices"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// secretsOutOfView refuses a value that is taken from a file which the program
// can read itself, as a project's own .env: a placeholder for it would promise
// what is not so.
func (f runFlags) secretsOutOfView(c client.Confinement, set setting) error {
	for _, entry := range slices.Concat(f.secretFlags.from, f.modelFlags.from) {
		name, where, _ := strings.Cut(entry, "=")
		path, is := strings.CutPrefix(where, "file:")
		if !is {
			continue
		}
		path, err := filepath.Abs(atHome(path))
		if err != nil {
			return err
		}
		places := []string{path}
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			places = append(places, real)
		}
		for _, at := range places {
			open, err := readInside(c, set, at)
			if err != nil {
				return err
			}
			if open {
				return refuse("%s: its value is in %s, which the program could read: keep it elsewhere, or close it: --hide %s", name, form.Quote(at), form.Quote(at))
			}
		}
	}
	return nil
}

// atHome gives a path that begins with ~/ in full: no shell does behind file:.
func atHome(path string) string {
	rest, is := strings.CutPrefix(path, "~/")
	if !is {
		return path
	}
	home, err := homeFolder()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}
