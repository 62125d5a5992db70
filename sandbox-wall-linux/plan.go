package linuxwall

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/noexec"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/stubs"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/written"
)

// A Plan is what the wall will do, in order. It is a value: [PlanFor] makes it
// without touching anything, a [Maker] carries it out.
type Plan struct {
	_ [0]func()

	// Name is the sandbox's.
	Name string
	// By carries it out, and Bwrap is the bubblewrap that does where one does.
	By    Maker
	Bwrap string
	// Net is where the network comes from.
	Net NetFrom
	// UID is who runs the program, the only user there is inside.
	UID int
	// DeveloperTools is whether its processes may trace each other.
	DeveloperTools bool
	// Make are folders that must be on this machine before anything is
	// mounted, 0700, with what is missing above them: the settings, when a
	// folder that is opened would show them once they are made.
	Make []string
	// Placeholders are what must stand for a while where nothing is, so that
	// it can be covered and not be made from inside.
	Placeholders []Placeholder
	// Steps are the mounts, in order.
	Steps []Step
	// Run are the files and folders that may be executed, by Landlock, which
	// is put on last of all, inside; nil is everything.
	Run []string
	// Orders are what is done to the mounts of this machine, in a namespace of
	// bubblewrap's own, before it binds them; nil is nothing.
	Orders *noexec.Orders
	// Lacks are options that the bubblewrap at hand does not have.
	Lacks  []string
	store  string
	caller *Step // shows [CallerInside], once a name is offered
	// Dir is the program's current folder, inside.
	Dir string
	// Argv is the program and its arguments.
	Argv []string
	// Writes are the folders that the program writes, to be remembered in
	// Written before it starts: see package written.
	Writes  []string
	Written written.Folders
	// Below is what lies deeper than the top of the write folders.
	Below Below
	// Warnings say what whoever runs the program is told at each start: what
	// could not be looked at, or is narrower than was asked for.
	Warnings []string
	// Notes say what of the confinement is without effect, or narrower than
	// its words, and why.
	Notes []string
}

// A Placeholder is a name that the program must not be able to make, under a
// folder that it can write: a stub for as long as the sandbox runs.
type Placeholder struct {
	// Path is where; its folder is there and passes no link.
	Path string
	// Kind is [Folder], or [File] where a folder would break the program
	// that looks there.
	Kind Kind
	// Text is what the file holds: what means the same as no file.
	Text string
	// Above is the folder that holds it, as it was when it was looked at.
	Above Node
	// Because says which member wants it.
	Because Reason
}

// Wants gives the placeholders as package stubs takes them. When one turns out
// to be taken, something was made there since the facts were read, and they are
// to be read again.
func (p *Plan) Wants() []stubs.Want {
	var wants []stubs.Want
	for _, h := range p.Placeholders {
		wants = append(wants, stubs.Want{
			Path: h.Path, In: stubs.Node{Dev: h.Above.Dev, Ino: h.Above.Ino}, File: h.Kind == File, Text: h.Text,
		})
	}
	return wants
}

// A Reason says why something is in a plan.
type Reason struct {
	// Member is the confinement's member that decides ("write", "hide"), or
	// the rule: "view" for what every sandbox has, "system", "settings",
	// "sockets", "dot files".
	Member string
	// Entry is the entry of that member, or empty.
	Entry string
	// Text says why in a few words, or is empty.
	Text string
}

func (r Reason) String() string {
	var b strings.Builder
	b.WriteString(r.Member)
	if r.Entry != "" {
		b.WriteString(" ")
		b.WriteString(shown(r.Entry))
	}
	if r.Text != "" {
		b.WriteString(": ")
		b.WriteString(r.Text)
	}
	return b.String()
}

// PlanFor decides what the wall does for a confinement on a machine. It looks
// at nothing but what it is given. What cannot be held as it was asked for is
// refused, wrapping [ErrRefused], never left out in silence; what this version
// cannot do wraps [errors.ErrUnsupported] as well.
func PlanFor(c client.Confinement, net NetFrom, f Facts, argv []string) (Plan, error) {
	t := &tree{facts: &f}
	p, err := draw(c, net, t, argv)
	if t.lacks != nil {
		return Plan{}, t.lacks
	}
	return p, err
}

// TmpDir gives the program's temporary folder inside, for TMPDIR; "" when it
// is the usual /tmp.
func TmpDir(c client.Confinement) string {
	if c.TmpPrefix == "" {
		return ""
	}
	return "/tmp/" + c.TmpPrefix + "tmp"
}

// Offer gives our own program more names inside, as links in [NamesInside]: a
// tool that runs outside is called by its name, and what makes the call is
// [CallerInside], or where that is not there the whole of [ProgramInside].
func (p *Plan) Offer(names ...string) error {
	var links []Step
	leads := ProgramInside
	if p.caller != nil && len(names) > 0 {
		leads = CallerInside
		links = append(links, p.stable(*p.caller))
		if p.Run != nil {
			p.Run = append(p.Run, CallerInside)
			slices.SortFunc(p.Run, comparePaths)
		}
	}
	for _, name := range names {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00\n") {
			return refuse("tools", name, "not a file's name", nil)
		}
		links = append(links, Step{
			Verb: MakeLink, At: join(NamesInside, name), Text: leads,
			Because: Reason{Member: "tools", Entry: name, Text: "runs outside"},
		})
	}
	for i, s := range p.Steps {
		if s.Verb == Seal {
			p.Steps = slices.Insert(p.Steps, i, links...)
			return nil
		}
	}
	return refuse("tools", strings.Join(names, " "), "the plan has nowhere to put them", nil)
}

// A draft is a plan in the making.
type draft struct {
	t   *tree
	f   *Facts
	c   client.Confinement
	net NetFrom

	// writes are the real folders of write.
	writes []string
	// closed are the real paths of the settings, by every name they have.
	closed []string
	places map[string]*place
	// links are where a link stands inside, and where it leads.
	links map[string]string
	// shared are files that are kept and have other names.
	shared []place
	// repositoriesOpen counts the submodules that are opened.
	repositoriesOpen int
	plan             Plan
}

// draw makes a plan on a tree.
func draw(c client.Confinement, net NetFrom, t *tree, argv []string) (Plan, error) {
	d := &draft{t: t, f: t.facts, c: c, net: net, places: map[string]*place{}, links: map[string]string{}}
	d.plan = Plan{
		Name: c.Name, UID: d.f.UID, By: d.f.By, Bwrap: d.f.Bwrap.Path, Net: net, Argv: argv,
		DeveloperTools: c.DeveloperTools,
	}
	for _, part := range []func() error{
		d.judge,
		d.everySandbox, d.systemFolders, d.rootOnly,
		d.settings, d.hidden, d.named, d.judgeMachine, d.nested, d.dotFiles, d.led, d.otherNames,
		d.developerTools, d.sockets, d.home, d.program, d.temporary, d.commands,
	} {
		if err := part(); err != nil {
			return Plan{}, err
		}
	}
	kept, err := d.arrange()
	if err != nil {
		return Plan{}, err
	}
	d.plan.Steps = d.steps(kept)
	d.nameFiles()
	d.plan.Steps = append(d.plan.Steps, d.seals(kept)...)
	if d.f.By == Bubblewrap {
		d.plan.Lacks, d.plan.store = d.f.Bwrap.Lacks, d.store()
		d.emptyFrom()
		d.bindFrom()
	}
	d.startIn()
	d.farRepositories()
	return d.plan, nil
}

// allowing are settings of [Facts.NoNamespaces] with a value that lets
// sandboxes be made.
var allowing = map[string]string{
	"user.max_user_namespaces":         "user.max_user_namespaces=10000",
	"kernel.unprivileged_userns_clone": "kernel.unprivileged_userns_clone=1",
}

// judge refuses what no plan is made of.
func (d *draft) judge() error {
	if err := checkNet(d.c, d.net); err != nil {
		return err
	}
	judged := d.c
	if judged.Net.Mode() == nil {
		judged.Net = client.NetOf(client.Closed{}) // given, and judged by who gave it
	}
	if err := judged.Check(); err != nil {
		return refuse("confinement", "", err.Error(), err)
	}
	if len(d.plan.Argv) == 0 {
		return refuse("argv", "", "empty, want a program", nil)
	}
	d.writes = writeFolders(d.t, d.c)
	d.plan.Writes, d.plan.Written = d.writes, d.f.Written
	return nil
}

// judgeMachine refuses a machine that cannot carry a plan out.
func (d *draft) judgeMachine() error {
	if name := d.f.NoNamespaces; name != "" {
		return refuse("user namespaces", "", name+" is 0, so no sandbox can be made: an administrator can set it, as in sysctl "+allowing[name], nil)
	}
	for _, device := range d.f.Routed {
		if device != "lo" {
			return refuse("net", "given", "this network namespace has a route by "+shown(device)+", so proxy-inside did not make it", nil)
		}
	}
	if d.f.By == Bubblewrap {
		return d.judgeBwrap()
	}
	return nil
}

// judgeBwrap refuses a bubblewrap that cannot carry a plan out.
func (d *draft) judgeBwrap() error {
	b := d.f.Bwrap
	if b.Path == "" {
		return refuse("bubblewrap", "", "not found, install it (the package bubblewrap)", nil)
	}
	if in := cmp.Or(plantedIn(d.t, b.Path, d.writes), d.t.plantedEarlier(b.Path)); in != "" {
		return refuse("bubblewrap", b.Path, "lies in "+shown(in)+", where the program could have put it: install the package bubblewrap", nil)
	}
	if d.t.resolve(b.Path).node.Mode&setUserID != 0 {
		return refuse("bubblewrap", b.Path, "is set-user-id root, which turns its faults into root's: chmod u-s it", nil)
	}
	if b.Fault != "" {
		return refuse("bubblewrap", b.Path, b.Fault, nil)
	}
	if lacks := slices.DeleteFunc(slices.Clone(b.Lacks), doneOtherwise); len(lacks) > 0 {
		return refuse("bubblewrap", b.Path, "version "+b.Version+" lacks "+strings.Join(lacks, ", ")+": 0.6 or later has them", errors.ErrUnsupported)
	}
	return nil
}

func (d *draft) note(format string, args ...any) {
	d.plan.Notes = append(d.plan.Notes, fmt.Sprintf(format, args...))
}

// without notes what somebody named and is without effect, and has it said at
// each start: who named it relies on it.
func (d *draft) without(format string, args ...any) {
	d.note(format, args...)
	d.warn(format, args...)
}
