package linuxwall

import (
	"path"
	"slices"
	"strings"
)

// Environ is a program's environment as it is in the plan's sandbox: env, and
// what a program needs there to work as it does elsewhere.
//
// Where a .git is kept from being made, an empty folder of that name is in view.
// Git itself passes it over (setup.c, is_git_directory). The go command takes it
// for a repository and builds no program, since git then says that there is none
// (isVCSRoot and setBuildInfo in cmd/go); it is told to ask no git. What is said
// in GOFLAGS, or in its own file where that is in view, stays as it is.
func (p *Plan) Environ(env []string) []string {
	if !slices.ContainsFunc(p.Placeholders, func(h Placeholder) bool {
		return h.Kind == Folder && path.Base(h.Path) == ".git"
	}) {
		return env
	}
	is := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		is[name] = value
	}
	// The go command's own file (go help environment, GOENV).
	file := is["GOENV"]
	if file == "" {
		if file = is["XDG_CONFIG_HOME"]; file == "" {
			file = path.Join(is["HOME"], ".config")
		}
		file = path.Join(file, "go/env")
	}
	if _, said := is["GOFLAGS"]; said || path.IsAbs(file) && viewOf(p.Steps).deciding(path.Clean(file)).binds() {
		return env
	}
	return append(slices.Clip(env), "GOFLAGS=-buildvcs=false")
}
