package linuxwall

import (
	"slices"
	"strings"
)

// systemFolders hold programs and their configuration, nothing of a user's:
// every sandbox reads them. Guix keeps all programs in /gnu/store. Behind them
// is what programs are installed with that is made on the machine, and so stands
// in /var (hier(7)), with links from /usr and /etc to it: without the first of
// these, openSUSE's (update-ca-certificates(8)), no TLS is trusted; without
// TeX's formats, GHC's packages, aspell's words or what `gem install` of
// Debian's ruby puts there, none of these programs does anything.
var systemFolders = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu/store",
	"/var/lib/ca-certificates", "/var/lib/texmf", "/var/lib/ghc", "/var/lib/gems", "/var/lib/mecab",
	"/var/lib/aspell", "/var/lib/ispell", "/var/cache/dictionaries-common", "/var/lib/sgml-base", "/var/lib/ieee-data",
	"/var/cache/man", "/var/cache/fontconfig",
}

// systemLinks are names in or beside them that some systems have as links to
// where the view would not show: image-based ones keep /usr/local in /var,
// NixOS finds every program by /run/current-system.
var systemLinks = []string{"/usr/local", "/run/current-system"}

// kernelFolders are the parts of /sys by which runtimes size themselves. All
// of /sys would show the machine's network devices, whatever the namespace.
var kernelFolders = []string{groupsFolder, "/sys/devices/system/cpu"}

const groupsFolder = "/sys/fs/cgroup"

// ownGroup gives the folder of the caller's own cgroup, or "". The names of the
// others say what else runs on this machine. It is the root of the namespace
// that the program's cgroup is named in (cgroup_namespaces(7)), so that runtimes
// find their limits there. Version 1 has a hierarchy a controller, each with
// lines of its own in the table, and is shown as it is.
func (d *draft) ownGroup() string {
	table, whole := d.t.text("/proc/self/cgroup")
	own, ok := strings.CutPrefix(strings.TrimSuffix(table, "\n"), "0::/")
	if !whole || !ok || own == "" || strings.Contains(own, "\n") {
		return ""
	}
	at := cleanAbsolute(groupsFolder + "/" + own)
	if !below(at, groupsFolder) || at != groupsFolder+"/"+own || d.t.resolve(at).real != at || d.t.node(at).Kind != Folder {
		return ""
	}
	return at
}

// keysTable names the keys of the caller's session and of his user (keyrings(7)),
// for which no namespace is. What is in them is closed by package seccomp.
const keysTable = "/proc/keys"

// Where the sandbox's own things stand inside.
const (
	// ProgramInside is our own program, lnk-sandbox.
	ProgramInside = "/run/lnk/lnk-sandbox"
	// CallerInside is the program that makes calls of tools, where it stands
	// beside ours: smaller, so that a call starts sooner.
	CallerInside = "/run/lnk/sandbox-call"
	// NamesInside is the folder of the names that [Plan.Offer] gives it.
	NamesInside = "/run/lnk/bin"

	// HostName is the sandbox's name for itself.
	HostName = "lnk"

	ownFolder = "/run/lnk"
)

// everySandbox has an empty root with file systems of its own.
func (d *draft) everySandbox() error {
	add := func(at string, kind placeKind, perm uint32, text string) {
		d.add(place{at: at, kind: kind, rank: rankView, perm: perm, because: Reason{Member: "view", Text: text}})
	}
	add("/", sealed, 0o755, "what is not named is not there")
	add("/proc", procFS, 0, "its own processes")
	add("/dev", devFS, 0, "the harmless devices, and a terminal of its own")
	add("/dev/shm", ours, 0o1777, "shared memory of its own")
	add("/run", sealed, 0o755, "no service of this machine")
	add("/tmp", ours, 0o1777, "a temporary folder of its own")
	add("/var/tmp", ours, 0o1777, "a temporary folder of its own")
	for _, at := range kernelFolders {
		from := ""
		if at == groupsFolder {
			from = d.ownGroup()
		}
		n := d.t.node(at)
		if from != "" {
			n = d.t.node(from)
		}
		if n.Kind == Folder {
			d.add(place{at: at, from: from, kind: readOnly, rank: rankView, node: n, because: Reason{Member: "view", Text: "the processors and limits of this machine"}})
		}
	}
	if n := d.t.node(keysTable); n.Kind == File {
		// The one that is covered is of the sandbox's /proc, and another file.
		d.add(place{at: keysTable, kind: shut, rank: rankView, node: Node{Kind: File}, because: Reason{Member: "view", Text: "keys are kept for a user, not for a sandbox"}})
	}
	d.links["/var/run"] = "../run"
	return nil
}

// systemFolders opens them to read, as folders or as the links they are, with
// what a link leads to.
func (d *draft) systemFolders() error {
	because := Reason{Member: "system", Text: "programs, libraries and configuration"}
	for i, at := range append(systemFolders[:len(systemFolders):len(systemFolders)], systemLinks...) {
		if r := d.t.resolve(parent(at)); r.real != parent(at) || r.node.Kind != Folder {
			continue
		}
		switch n := d.t.node(at); {
		case n.Kind == Folder && i < len(systemFolders):
			d.add(place{at: at, kind: readOnly, rank: rankSystem, node: n, because: because})
		case n.Kind == Link:
			d.links[at] = n.Target
			r := d.t.resolve(at)
			d.follow(r.links[1:])
			if r.node.Kind == Folder && d.above(r.real).rank != rankSystem {
				d.add(place{at: r.real, kind: readOnly, rank: rankSystem, node: r.node, because: because})
			}
		}
	}
	for _, at := range d.f.Others {
		d.add(place{at: at, kind: readOnly, rank: rankSystem, node: d.t.node(at), because: because})
	}
	return nil
}

// rootOnly closes what only root may read, where root asks: inside, it would
// own those files still. Its own home, which is no secret of the system's, is
// closed as any home.
func (d *draft) rootOnly() error {
	home := ""
	if d.f.Home != "" {
		home = d.t.resolve(d.f.Home).real
	}
	for _, at := range d.f.RootOnly {
		if at == home && personal(at) {
			continue
		}
		d.onlyRoot(at)
	}
	return nil
}

var onlyRoot = Reason{Member: "system", Text: "only root may read it"}

func (d *draft) onlyRoot(at string) {
	d.add(place{at: at, kind: shut, rank: rankRootOnly, node: d.t.node(at), because: onlyRoot})
}

// program puts our own program where routes and stages inside find it. Where
// the program could write it, it is read only, so that what runs outside next
// time is what ran this time.
func (d *draft) program() error {
	at := d.f.Program
	if at == "" {
		return refuse("view", ProgramInside, "the running program's own file cannot be found: start it by a path that is there", nil)
	}
	r := d.t.resolve(at)
	if r.node.Kind != File {
		return refuse("view", at, "the running program's own file is "+r.node.Kind.String()+": start it by a path that is there", nil)
	}
	d.add(place{at: ProgramInside, kind: readOnly, rank: rankSettings, node: r.node, from: r.real, because: Reason{Member: "view", Text: "lnk-sandbox itself"}})
	if d.net.carried() {
		d.caller(join(parent(r.real), callerName))
	}
	if in := plantedIn(d.t, at, d.writes); in != "" {
		if w := linkedIn(r.links, d.writes); w != "" {
			return refuse("view", at, "is reached by a link in "+shown(w)+", which the program could replace: start lnk-sandbox by its own path", nil)
		}
		return d.besideProgram(r)
	}
	return nil
}

// callerName is what the program that makes calls is called beside ours.
const callerName = "sandbox-call"

// caller keeps the step that shows it, for [Plan.Offer]: where no tool is
// offered the start is spared a mount.
func (d *draft) caller(at string) {
	if n := d.t.node(at); n.Kind == File && n.Mode&anyExecute != 0 {
		d.plan.caller = &Step{Verb: Read, At: CallerInside, From: at, Is: n, Because: Reason{Member: "view", Text: "calls tools that run outside"}}
	}
}

// ourPrograms start each other by these names in one folder: each is what the
// program must neither change nor put there.
var ourPrograms = []string{"lnk", "lnk-sandbox", "sandbox-wall", callerName}

// besideProgram keeps our own programs, and their names, in a folder that the
// program can write.
func (d *draft) besideProgram(own resolution) error {
	because := Reason{Member: "view", Text: "it runs outside"}
	d.add(place{at: own.real, kind: readOnly, rank: rankDot, node: own.node, because: because})
	for _, name := range ourPrograms {
		at := join(parent(own.real), name)
		if at == own.real {
			continue
		}
		p := place{at: at, kind: readOnly, rank: rankDot, node: d.standing(at, ""), because: because}
		switch p.node.Kind {
		case Missing:
			p.kind = shut
		case Link:
			return refuse("view", at, "is a link in what is written, which the program could replace, and lnk runs it: remove it", nil)
		}
		d.add(p)
	}
	return nil
}

// temporary makes the folder that TMPDIR names.
func (d *draft) temporary() error {
	at := TmpDir(d.c)
	if at == "" {
		return nil
	}
	if g := d.above(parent(at)); !g.kind.private() {
		return refuse("tmp_prefix", d.c.TmpPrefix, "the temporary folder cannot be the sandbox's own, since "+g.because.Member+" names "+shown(g.at), nil)
	}
	d.add(place{at: at, kind: folder, rank: rankView, perm: 0o700, because: Reason{Member: "tmp_prefix", Text: "the program's TMPDIR"}})
	return nil
}

// home gives the program a home folder of its own, unless something opens the
// caller's or closes it: many tools do not start without one.
func (d *draft) home() error {
	if d.f.Home == "" || d.f.Home == "/" {
		return nil
	}
	r := d.t.resolve(d.f.Home)
	if r.node.Kind == Tangled {
		return refuse("view", d.f.Home, "the home folder's links lead in a circle: set HOME", nil)
	}
	g := d.above(r.real)
	d.follow(r.links)
	system := g.kind == readOnly && g.rank == rankSystem && g.at != r.real
	if (system || g.rank == rankRootOnly) && personal(r.real) {
		d.add(place{at: r.real, kind: ours, rank: rankReadHome, perm: 0o700, because: Reason{Member: "view", Text: "a home of its own, empty"}})
		return nil
	}
	if g.kind.host() || g.kind == shut || g.kind == procFS || g.kind == devFS || g.at == r.real {
		return nil
	}
	kind := ours
	if g.kind.private() {
		kind = folder
	}
	d.add(place{at: r.real, kind: kind, rank: rankView, perm: 0o700, because: Reason{Member: "view", Text: "a home of its own, empty"}})
	return nil
}

// personal says whether a home in a system folder is a person's, as in /opt, or
// where /home leads to /usr/home. That of a daemon's user can be /usr/sbin.
func personal(home string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(home, "/usr"), "/local")
	first, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	return first != "" && !strings.HasPrefix(first, "lib") &&
		!slices.Contains([]string{"bin", "sbin", "games", "share", "include", "src", "man", "etc", "nix"}, first)
}
