package linuxwall

import (
	"path"
	"slices"
	"strings"
)

// Environ is a program's environment as it is in the plan's sandbox: env, and
// what a program needs there to work as it does elsewhere.
func (p *Plan) Environ(env []string) []string {
	is := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		is[name] = value
	}
	var more []string
	for _, v := range []string{p.forGo(is), p.forTar(is), p.forGit(is), p.forScreen(is)} {
		if v != "" {
			more = append(more, v)
		}
	}
	return append(slices.Clip(env), more...)
}

// forGo tells the go command to ask no git, where a .git is kept from being
// made: an empty folder of that name is in view then. Git itself passes it over
// (setup.c, is_git_directory). The go command takes it for a repository and
// builds no program, since git then says that there is none (isVCSRoot and
// setBuildInfo in cmd/go). What is said in GOFLAGS, or in its own file where
// that is in view, stays as it is.
func (p *Plan) forGo(is map[string]string) string {
	if !slices.ContainsFunc(p.Placeholders, func(h Placeholder) bool {
		return h.Kind == Folder && path.Base(h.Path) == ".git"
	}) {
		return ""
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
		return ""
	}
	return "GOFLAGS=-buildvcs=false"
}

// forTar has root's tar unpack as anybody's does: for root it gives each file to
// the owner that the archive names (GNU tar's manual, --same-owner), whom nobody
// inside can be, and so it would fail at every archive of another user's. What
// is said in TAR_OPTIONS stays as it is.
func (p *Plan) forTar(is map[string]string) string {
	if _, said := is["TAR_OPTIONS"]; said || p.UID != 0 {
		return ""
	}
	return "TAR_OPTIONS=--no-same-owner"
}

// forGit has git look for its repository past the folders that are made inside
// for what stands in them: those are on a file system of the sandbox's own, and
// git goes no further up than its own (git(1), GIT_DISCOVERY_ACROSS_FILESYSTEM).
// It is told where a repository is in view above the current folder, and what is
// said there stays as it is.
func (p *Plan) forGit(is map[string]string) string {
	const name = "GIT_DISCOVERY_ACROSS_FILESYSTEM"
	if _, said := is[name]; said {
		return ""
	}
	v := viewOf(p.Steps)
	for dir := p.Dir; dir != "/"; {
		dir = parent(dir)
		if v.deciding(join(dir, ".git")).binds() && !v.deciding(dir).binds() {
			return name + "=1"
		}
	}
	return ""
}

// forScreen has GNU screen keep its sockets in the temporary folder: it makes
// them below /run, of which the sandbox has an empty one that is read only. It
// makes the folder itself (SCREENDIR in its manual). What is said there stays
// as it is, and where the temporary folder is this machine's screen is told
// nothing.
func (p *Plan) forScreen(is map[string]string) string {
	const name = "SCREENDIR"
	dir := is["TMPDIR"]
	if !path.IsAbs(dir) {
		dir = "/tmp"
	}
	if _, said := is[name]; said || viewOf(p.Steps).deciding(path.Clean(dir)).binds() {
		return ""
	}
	return name + "=" + path.Join(dir, ".screen")
}
