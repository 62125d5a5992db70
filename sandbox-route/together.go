package route

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// MaxRoutes is how many routes one proxy mounts.
const MaxRoutes = 64

// Beside is what routes are mounted beside.
type Beside struct {
	_ [0]func()

	// Write are the paths that the program writes, absolute and clean: no
	// bridge's socket and no tool's program may be of them or in them, since
	// the program could put its own there.
	Write []string
	// Hide are paths that are closed in what it writes: one below a write
	// path, with no other write path in it on the way, is out of its reach.
	Hide []string
	// Closed are paths that are closed whatever else says: the settings folder.
	Closed []string
	// Resolve follows the symbolic links of a path as far as it is there. Nil
	// compares paths as they are written.
	Resolve func(path string) string
	// FoldCase compares paths in any case, for file systems that do (macOS).
	FoldCase bool
}

// CheckRoutes refuses routes that cannot be mounted together. The refusal's
// pointer is relative to the list: "/1/bridge/socket".
func CheckRoutes(routes []Route, beside Beside) error {
	if len(routes) > MaxRoutes {
		return form.Refuse(fmt.Sprintf("%d routes, want at most %d", len(routes), MaxRoutes))
	}
	mounted := map[string]int{}
	setBy := map[string]int{}
	return eachRoute(routes, func(i int, r Route) error {
		if err := r.Check(); err != nil {
			return err
		}
		at := r.KindName() + "/" + r.Name
		if first, taken := mounted[at]; taken {
			return form.At("name", form.Refuse(fmt.Sprintf("%s: route %d of this kind has that name", form.Quote(r.Name), first)))
		}
		mounted[at] = i
		if err := takeVariables(r, i, setBy); err != nil {
			return err
		}
		return beside.check(r)
	})
}

func eachRoute(routes []Route, check func(i int, r Route) error) error {
	for i, r := range routes {
		if err := check(i, r); err != nil {
			return form.AtIndex(i, err)
		}
	}
	return nil
}

// takeVariables refuses a variable that another route sets, or this one twice.
func takeVariables(r Route, i int, setBy map[string]int) error {
	own := len(r.own())
	for n, v := range r.Variables() {
		first, taken := setBy[v]
		if !taken {
			setBy[v] = i
			continue
		}
		err := form.Refuse(fmt.Sprintf("%s: route %d sets it too", v, first))
		if n < own {
			return form.At("name", err)
		}
		return form.At("env", err)
	}
	return nil
}

// check refuses what runs or listens outside at a place that the program writes.
func (b Beside) check(r Route) error {
	switch k := r.Kind.(type) {
	case Bridge:
		return form.At("bridge", form.At("socket", b.outside(k.Socket, "serve it")))
	case Tool:
		return form.At("tool", form.At("argv", b.checkArgv(k.Argv)))
	}
	return nil
}

// checkArgv refuses a tool whose program, or whose script or configuration
// among its own words, the program inside could replace. A folder that is
// written is a fine word as a whole: what the program cannot replace is the
// folder itself, and tools work on what is in it.
func (b Beside) checkArgv(argv []string) error {
	for i, word := range argv {
		p := word
		if i > 0 {
			if p = pathIn(word); p == "" {
				continue
			}
			if p[0] == '.' {
				return form.AtIndex(i, form.Refuse(form.Quote(word)+": relative to a folder that the program chooses: write the whole path"))
			}
			if slices.Contains(b.Write, path.Clean(p)) {
				continue
			}
			p = path.Clean(p)
		}
		if err := b.outside(p, "replace it"); err != nil {
			return form.AtIndex(i, err)
		}
	}
	return nil
}

// pathIn gives the path that a word is, or ends with behind an option's name:
// /a/b, --file=/a/b, -f/a/b, ./a. Empty is none.
func pathIn(word string) string {
	if rest, ok := strings.CutPrefix(word, "-"); ok {
		if _, value, ok := strings.Cut(rest, "="); ok {
			rest = value
		} else if at := strings.IndexByte(rest, '/'); at >= 0 {
			rest = rest[at:]
		}
		word = rest
	}
	for _, start := range []string{"/", "./", "../"} {
		if strings.HasPrefix(word, start) {
			return word
		}
	}
	return ""
}

// outside refuses a path that the program writes.
func (b Beside) outside(p, harm string) error {
	if w, writes := b.Writes(p); writes {
		return form.Refuse(fmt.Sprintf("%s: in %s, which the program writes and so could %s", form.Quote(p), form.Quote(w), harm))
	}
	return nil
}

// Writes says whether the program could write a path or put another there,
// and as part of which of Write. The path counts as it is written and with
// its links followed: one of them in reach is enough.
func (b Beside) Writes(p string) (write string, writes bool) {
	for _, p := range b.spellings(p) {
		for _, w := range b.Write {
			if b.within(p, w) && !b.closed(p, w) {
				return w, true
			}
		}
	}
	return "", false
}

// closed says whether what lies at p, which is in w, is out of the program's reach.
func (b Beside) closed(p, w string) bool {
	for _, c := range b.Closed {
		if b.within(p, c) {
			return true
		}
	}
	for _, h := range b.Hide {
		if b.within(p, h) && b.within(h, w) && !b.within(w, h) {
			return true
		}
	}
	return false
}

// within says whether p is dir or in it, dir as written or with links followed.
func (b Beside) within(p, dir string) bool {
	for _, dir := range b.spellings(dir) {
		if Within(p, dir, b.FoldCase) {
			return true
		}
	}
	return false
}

func (b Beside) spellings(p string) []string {
	if b.Resolve == nil {
		return []string{p}
	}
	return []string{p, b.Resolve(p)}
}

// Within says whether path p is dir or lies in it, both absolute and clean,
// compared as they are written, in any case if fold.
func Within(p, dir string, fold bool) bool {
	if fold {
		p, dir = strings.ToLower(p), strings.ToLower(dir)
	}
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// Follow makes a Resolve of one that needs the whole path to be there (as
// filepath.EvalSymlinks does): what is not there yet stays as it is written.
func Follow(whole func(string) (string, error)) func(string) string {
	return func(p string) string {
		rest := ""
		for at := p; ; at = path.Dir(at) {
			if real, err := whole(at); err == nil {
				return path.Join(real, rest)
			}
			if at == "/" || at == "." {
				return p
			}
			rest = path.Join(path.Base(at), rest)
		}
	}
}
