package linuxwall

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/noexec"
)

// maxRun bounds what may be executed: each costs the start a rule.
const maxRun = 1024

// storeFolder is where the sandbox's own file systems are mounted before it is
// made, below the settings.
const storeFolder = "sandbox/empty"

// An only is commands {"only"} in the making.
type only struct {
	*draft
	// run are the files and folders that may be executed.
	run map[string]Node
	// entries are those of run that are named, or stand for what is.
	entries []string
	// code are what may be mapped as code beside them, and whether all that is
	// below it was asked for programs.
	code map[string]Node
	todo []string
}

// commands keeps everything but what is named from being executed: everything
// is noexec but that and the libraries, and Landlock lets nothing else be
// executed.
func (d *draft) commands() error {
	named, restricted := d.c.Commands.Only()
	if !restricted {
		return nil
	}
	if d.f.Landlock < landlock.ExecuteABI {
		return refuse("commands", "", fmt.Sprintf("only cannot be enforced: it needs Landlock %d (Linux 5.19) and this kernel has %s: use any", landlock.ExecuteABI, landlockWords(d.f.Landlock)), nil)
	}
	o := &only{draft: d, run: map[string]Node{}, code: map[string]Node{}}
	for _, entry := range named {
		if err := o.entry(entry); err != nil {
			return err
		}
	}
	for len(o.todo) > 0 {
		file := o.todo[0]
		o.todo = o.todo[1:]
		o.starts(file)
		if len(o.run) > maxRun {
			return refuse("commands", "", fmt.Sprintf("only comes to more than %d files, links and interpreters: name fewer", maxRun), nil)
		}
	}
	o.libraries()
	return o.orders()
}

func landlockWords(abi int) string {
	if abi == 0 {
		return "none"
	}
	return fmt.Sprint(abi)
}

// entry adds what one entry names.
func (o *only) entry(entry string) error {
	r := o.t.resolve(entry)
	switch r.node.Kind {
	case File:
		if r.node.Mode&anyExecute == 0 {
			return refuse("commands", entry, "may not be executed by anybody: chmod +x it", nil)
		}
	case Folder:
	case Missing:
		return refuse("commands", entry, "no such file or folder: name what is there", nil)
	default:
		return refuse("commands", entry, "is "+r.node.Kind.String()+": name a program, or a folder of programs", nil)
	}
	if r.real == "/" {
		return refuse("commands", entry, "is everything: name programs, or use any", nil)
	}
	if err := o.judgeLinks("commands", entry, r.links); err != nil {
		return err
	}
	if !o.above(r.real).kind.host() {
		return refuse("commands", entry, "is not in view: name it in read too", nil)
	}
	if err := o.keep(entry, r); err != nil {
		return err
	}
	o.follow(r.links)
	o.run[r.real] = r.node
	o.entries = append(o.entries, r.real)
	if r.node.Kind == File {
		o.todo = append(o.todo, r.real)
		return nil
	}
	return o.folder(entry, r.real)
}

// keep makes what is named, where the program could write it, read only.
func (o *only) keep(entry string, r resolution) error {
	for _, w := range o.c.Write {
		switch at := o.t.resolve(w).real; {
		case within(at, r.real):
			return refuse("commands", entry, "is written ("+shown(w)+"), so the program could put one of its own there: name single files", nil)
		case below(r.real, at):
			if r.node.Kind == File && r.node.Links > 1 {
				return refuse("commands", entry, "has another name, by which the program could write it: copy it", nil)
			}
			o.add(place{at: r.real, kind: readOnly, rank: rankWrite, node: r.node, because: Reason{Member: "commands", Entry: entry, Text: "it may be executed, so not written"}})
			o.note("commands %s: lies in %s, and is read only", shown(entry), shown(w))
		}
	}
	return nil
}

// folder adds what the links in a named folder lead to, and what its files
// need to start.
func (o *only) folder(entry, dir string) error {
	names, whole := o.t.names(dir)
	if !whole {
		return refuse("commands", entry, fmt.Sprintf("cannot be listed, or holds more than %d files: name single files", maxNames), nil)
	}
	written := linkedIn([]string{join(dir, "x")}, o.writes) != ""
	for _, name := range names {
		r := o.t.resolve(join(dir, name))
		switch {
		case r.node.Kind != File || r.node.Mode&anyExecute == 0:
			continue
		case written && (len(r.links) > 0 || r.node.Links > 1):
			o.note("commands %s: %s is a link in what is written, and is not followed", shown(entry), shown(name))
			continue
		case len(r.links) > 0 && !within(r.real, dir):
			if !o.above(r.real).kind.host() {
				continue
			}
			o.run[r.real] = r.node
		}
		o.todo = append(o.todo, r.real)
	}
	return nil
}

// starts adds what a file needs to start.
func (o *only) starts(file string) {
	s := o.t.start(file)
	if s.Loader != "" {
		o.need(file, s.Loader)
	}
	if len(s.Script) == 0 {
		return
	}
	by := o.need(file, s.Script[0])
	if base(s.Script[0]) != "env" && base(by) != "env" {
		return
	}
	name := throughEnv(s.Script[1:])
	found := o.onPath(name)
	if found == "" {
		o.note("commands %s: is started through env, and %s is not on PATH, so it cannot start", shown(file), shown(name))
		return
	}
	o.need(file, found)
}

// need adds an interpreter or a loader, and gives where it really is.
func (o *only) need(file, by string) string {
	if cleanAbsolute(by) == "" {
		o.note("commands %s: is started by %s, which is no whole path, so it cannot start", shown(file), shown(by))
		return ""
	}
	r := o.t.resolve(by)
	if r.node.Kind != File || !o.above(r.real).kind.host() || plantedIn(o.t, by, o.writes) != "" {
		o.note("commands %s: is started by %s, which is not in view or is written, so it cannot start", shown(file), shown(by))
		return ""
	}
	if _, known := o.run[r.real]; !known {
		o.run[r.real] = r.node
		o.todo = append(o.todo, r.real)
		if !slices.Contains(o.entries, r.real) && !strings.Contains(base(r.real), ".so") {
			o.note("commands: %s may be executed as well, since it starts %s", shown(r.real), shown(file))
		}
	}
	return r.real
}

// onPath finds a program as a shell would; "" is nowhere.
func (o *only) onPath(name string) string {
	if strings.Contains(name, "/") || name == "" {
		return name
	}
	for dir := range strings.SplitSeq(o.f.Path, ":") {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		if r := o.t.resolve(join(strings.TrimRight(dir, "/"), name)); r.node.Kind == File && r.node.Mode&anyExecute != 0 {
			return r.real
		}
	}
	return ""
}

// orders writes down what package noexec does, and what Landlock lets be
// executed.
func (o *only) orders() error {
	places := map[string]noexec.Place{}
	put := func(at string, n Node, code bool) {
		places[at] = noexec.Place{Path: at, Dev: n.Dev, Ino: n.Ino, Code: code}
	}
	// In one order: what is refused first is refused on the same facts again.
	for _, at := range slices.Sorted(maps.Keys(o.code)) {
		n := o.code[at]
		if n.Kind == Folder {
			programs, whole := o.t.programs(at)
			if !whole {
				return refuse("commands", "", "the libraries in "+shown(at)+" cannot be told from programs: too many files, or unreadable", nil)
			}
			for _, p := range programs {
				if !o.mayRun(p) {
					put(p, o.t.node(p), false)
				}
			}
		}
		put(at, n, true)
	}
	for at, n := range o.run {
		put(at, n, true)
	}
	for _, own := range []string{o.f.Program, o.f.Bwrap.Path} {
		if own == "" {
			continue // by the kernel's own calls nothing is executed on the way
		}
		r := o.t.resolve(own)
		put(r.real, r.node, true)
	}
	if c := o.plan.caller; c != nil {
		put(c.From, c.Is, true)
	}
	// What is written in what is code is not.
	for _, w := range o.c.Write {
		if r := o.t.resolve(w); o.inCode(r.real) && (r.node.Kind == Folder || r.node.Kind == File) {
			put(r.real, r.node, false)
		}
	}
	o.plan.Orders = &noexec.Orders{NoExec: true}
	for _, p := range places {
		o.plan.Orders.Places = append(o.plan.Orders.Places, p)
	}
	slices.SortFunc(o.plan.Orders.Places, func(a, b noexec.Place) int { return comparePaths(a.Path, b.Path) })
	for at := range o.run {
		o.plan.Run = append(o.plan.Run, at)
	}
	if o.net.carried() {
		o.plan.Run = append(o.plan.Run, ProgramInside) // calls tools that run outside
	}
	slices.SortFunc(o.plan.Run, comparePaths)
	return nil
}

// inCode says whether a path lies in a folder that is code.
func (o *only) inCode(at string) bool {
	for dir := parent(at); dir != "/"; dir = parent(dir) {
		if _, code := o.code[dir]; code {
			return true
		}
	}
	return o.mayRun(parent(at))
}

// mayRun says whether a file is named, or lies in a folder that is.
func (o *only) mayRun(at string) bool {
	for ; at != "/"; at = parent(at) {
		if _, run := o.run[at]; run {
			return true
		}
	}
	return false
}

// store gives where the sandbox's own file systems are mounted first.
func (d *draft) store() string { return d.t.resolve(join(d.f.Settings[0], storeFolder)).real }

// emptyFrom has the sandbox's own file systems bound from those that package
// noexec makes, so that nothing put there can be executed. What is sealed needs
// none: nothing can be put there.
func (d *draft) emptyFrom() {
	if d.plan.Orders == nil {
		return
	}
	d.plan.Orders.Store = d.plan.store
	d.plan.moveEmpty()
}

// moveEmpty has the file systems of the sandbox's own that it can write made
// in the store.
func (p *Plan) moveEmpty() {
	for i, s := range p.writableEmpty() {
		p.Steps[i].From = join(p.Orders.Store, fmt.Sprint(len(p.Orders.Empty)))
		p.Orders.Empty = append(p.Orders.Empty, noexec.Empty{Perm: s.Perm})
	}
}

// writableEmpty are the steps, by their place, that mount file systems of the
// sandbox's own which stay writable.
func (p *Plan) writableEmpty() iter.Seq2[int, Step] {
	sealed := map[string]bool{}
	for _, s := range p.Steps {
		if s.Verb == Seal {
			sealed[s.At] = true
		}
	}
	return func(yield func(int, Step) bool) {
		for i, s := range p.Steps {
			if s.Verb == Empty && !sealed[s.At] && !yield(i, s) {
				return
			}
		}
	}
}

// Bounded are the paths of the file systems that LimitTmp bounds.
func (p *Plan) Bounded() (paths []string) {
	for _, s := range p.writableEmpty() {
		paths = append(paths, s.At)
	}
	return paths
}

// LimitTmp bounds each file system of the sandbox's own that it can write, in
// bytes: they are kept in memory. 0 leaves it at half of this machine's.
func (p *Plan) LimitTmp(size int64) {
	if size > 0 && p.lacks("--size") && (p.Orders == nil || len(p.Orders.Empty) == 0) {
		if p.Orders == nil {
			p.Orders = &noexec.Orders{Store: p.store}
		}
		p.moveEmpty()
	}
	n := 0
	for i := range p.writableEmpty() {
		p.Steps[i].Size = size
		if p.Orders != nil && n < len(p.Orders.Empty) {
			p.Orders.Empty[n].Size = size
		}
		n++
	}
}
