package linuxwall

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// Below is what lies deeper than the top of the write folders.
type Below struct {
	// Roots are the folders that were walked, and Except what was left out in
	// them: it is closed, or cannot be written.
	Roots, Except []string
	// Found is what was found when the facts were read.
	Found survey.Found
}

// Limits of what is protected below write folders: each repository costs
// mounts, and a start's time grows with the square of all mounts.
const (
	// maxNested is how many repositories are protected one by one.
	maxNested = 256
	// crowded is from how many repositories on a folder at the top of a write
	// folder is made read only where there are too many in all.
	crowded = 16
	// maxShown is how many folders a warning names.
	maxShown = 3
)

// nested finds the repositories that are there below the write folders and
// protects each as that at the top is: git runs what is in it for whoever
// works in its folder, outside too. It runs before the dot files at the top
// are looked at, and leaves those alone.
func (d *draft) nested() error {
	b := &d.plan.Below
	for _, w := range d.writes {
		if base(w) != ".git" && !d.isClosed(w) && !slices.Contains(b.Roots, w) {
			b.Roots = append(b.Roots, w)
		}
	}
	if len(b.Roots) == 0 {
		return nil
	}
	for _, p := range sorted(maps.Values(d.places)) {
		if p.kind.writable() || p.kind == readOnly && p.rank.implied() {
			continue // which narrows nothing here
		}
		if slices.ContainsFunc(b.Roots, func(root string) bool { return below(p.at, root) }) {
			b.Except = append(b.Except, p.at)
		}
	}
	b.Found = d.t.below(b.Roots, b.Except)
	d.warnUnseen(b.Found)

	var repositories []survey.Repository
	for _, r := range b.Found.Repositories {
		root := d.rootOf(r.Path)
		open := slices.Contains(d.opened(root), root)
		switch {
		case open || !r.Bare && parent(r.Path) == root:
			// All of it is opened, or it stands at the top.
		case r.Path == root:
			if err := d.protectGit(root); err != nil {
				return err
			}
		default:
			repositories = append(repositories, r)
		}
	}
	repositories, err := d.few(repositories)
	if err != nil {
		return err
	}
	for _, r := range repositories {
		d.protectNested(r)
	}
	for _, at := range b.Found.Beside {
		root := d.rootOf(at)
		if parent(at) != root && !slices.Contains(d.opened(root), root) {
			d.besideNested(at)
		}
	}
	return nil
}

// rootOf gives the deepest write folder that holds a path.
func (d *draft) rootOf(path string) string {
	root := ""
	for _, r := range d.plan.Below.Roots {
		if within(path, r) && len(r) > len(root) {
			root = r
		}
	}
	return root
}

// protectNested protects one repository. An empty file is none: git says that it
// is no gitfile and goes no further up (setup.c, read_gitfile_gently), for which
// caches put one in their folders (uv, at <cache>/sdists-v9/.git) and open it to
// write at each start.
func (d *draft) protectNested(r survey.Repository) {
	p := place{at: r.Path, kind: readOnly, rank: rankDot, node: d.standing(r.Path, ""), because: Reason{Member: "dot files", Text: "a repository below, and what is in it runs outside"}}
	switch {
	case p.node.Kind == Missing:
		return // another run's placeholder: what is made of it is reported
	case p.node.Kind == File && p.node.Size == 0:
		return // no repository: git stops at it. What is made of it is reported
	case p.node.Kind == Link:
		if why := d.keepLinked(r.Path, p.because, false); why != "" {
			d.warn("%s %s; look at it before you run git there", shown(r.Path), why)
		}
		return
	}
	d.add(p)
}

// besideNested keeps a dot file beside a repository below, where it is there.
// One that is not is not held: placeholders would stand all over the project.
func (d *draft) besideNested(at string) {
	p := place{at: at, kind: readOnly, rank: rankDot, node: d.standing(at, ""), because: Reason{Member: "dot files", Text: "what is in it runs outside"}}
	switch {
	case p.node.Kind == Missing || d.above(at).kind == readOnly:
	case p.node.Kind == Link:
		if why := d.keepLinked(at, p.because, false); why != "" {
			d.warn("%s %s; look at it before you use it", shown(at), why)
		}
	default:
		p.kind = keptAs(p.node)
		d.add(p)
	}
}

// few gives the repositories to protect one by one. Where there are too many,
// the folders that hold most of them stay read only as a whole.
func (d *draft) few(all []survey.Repository) ([]survey.Repository, error) {
	if len(all) <= maxNested {
		return all, nil
	}
	crowds := map[string]int{}
	for _, r := range all {
		crowds[d.topOf(r.Path)]++
	}
	tops := slices.SortedFunc(maps.Keys(crowds), func(a, b string) int {
		return cmp.Or(cmp.Compare(crowds[b], crowds[a]), strings.Compare(a, b))
	})
	left := len(all)
	var shut []string
	for _, top := range tops {
		if left <= maxNested || crowds[top] < crowded {
			break
		}
		left -= crowds[top]
		shut = append(shut, top)
	}
	if left > maxNested {
		return nil, refuse("write", d.rootOf(all[0].Path), fmt.Sprintf("%d repositories lie in it, more than the %d that can be protected: name those that are meant, or open its dot files", len(all), maxNested), nil)
	}
	for _, top := range shut {
		d.warn("%s stays read only: %d repositories lie in it, more than can be protected one by one; to write in some of them, name those in write", shown(top), crowds[top])
		d.add(place{at: top, kind: readOnly, rank: rankDot, node: d.t.node(top), because: Reason{Member: "dot files", Text: "too many repositories lie in it"}})
	}
	rest := slices.DeleteFunc(all, func(r survey.Repository) bool { return slices.Contains(shut, d.topOf(r.Path)) })
	return rest, nil
}

// topOf gives the entry of its write folder that a path lies in.
func (d *draft) topOf(path string) string {
	root := d.rootOf(path)
	name, _, _ := strings.Cut(strings.TrimPrefix(path[len(root):], "/"), "/")
	return join(root, name)
}

// warnUnseen says of which folders nothing is known.
func (d *draft) warnUnseen(f survey.Found) {
	if len(f.Unseen) > 0 {
		d.warn("not looked through in time, so that repositories there are not protected, nor sockets closed: %s", someOf(f.Unseen))
	}
	if len(f.Shut) > 0 {
		d.warn("may not be listed, so that repositories there are not protected: %s", someOf(f.Shut))
	}
}

// someOf names the first few of many paths.
func someOf(paths []string) string {
	var b strings.Builder
	for i, p := range paths {
		if i == maxShown {
			fmt.Fprintf(&b, " and %d more", len(paths)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(shown(p))
	}
	return b.String()
}

// warn adds a warning, once.
func (d *draft) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(d.plan.Warnings, w) {
		d.plan.Warnings = append(d.plan.Warnings, w)
	}
}

// Writable gives what says whether the program can write what stands at a path
// of this machine, or make something there, as far as mounts decide.
func (p *Plan) Writable() func(path string) bool {
	v := viewOf(p.Steps)
	return func(path string) bool {
		verb := v.deciding(path).Verb
		return verb == Write || verb == Pin
	}
}
