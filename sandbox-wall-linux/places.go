package linuxwall

import client "github.com/lnkhq/lnk-sandbox/sandbox-client"

// A placeKind is how a path stands in the view.
type placeKind uint8

const (
	// shut is there, empty and read only; a file cannot be read.
	shut placeKind = iota + 1
	// readOnly and readWrite are this machine's.
	readOnly
	readWrite
	// pinned is a folder of a write folder, bound on itself: a mount point
	// cannot be renamed (rename(2), EBUSY), and so what lies below it stays
	// where it is covered.
	pinned
	// ours is an empty file system of the sandbox's own; sealed is one that
	// is made read only once everything stands in it.
	ours
	sealed
	// folder is a folder in one of ours.
	folder
	// told is a file whose text is ours, over a placeholder.
	told
	procFS
	devFS
)

// host says whether what is there is this machine's.
func (k placeKind) host() bool { return k == readOnly || k == readWrite || k == pinned }

// writable says whether it is this machine's and can be written.
func (k placeKind) writable() bool { return k == readWrite || k == pinned }

// private says whether it is the sandbox's own, and stays writable.
func (k placeKind) private() bool { return k == ours || k == folder }

// A rank says who decides when several members name one path: the highest.
type rank uint8

const (
	rankView     rank = iota // what every sandbox has
	rankSystem               // system folders
	rankReadHome             // read_home
	rankTools                // developer_tools
	rankDot                  // dot files, and our own program
	rankRootOnly             // what only root may read
	rankSocket               // sockets of this machine
	rankHide
	rankRead
	rankWrite
	rankSettings
)

// implied says whether a rank only ever opens: it narrows nothing that another
// member opened further, and opens nothing that one hides.
func (r rank) implied() bool { return r <= rankTools }

// A place is one path of the view that differs from what is above it.
type place struct {
	at   string
	kind placeKind
	rank rank
	// node is what stands there on this machine.
	node Node
	// from is the path on this machine, where it is not at.
	from string
	perm uint32
	// others is what a step's is.
	others bool
	// text is what a told file says.
	text string
	// full is the path that is closed, where at is the first that is missing
	// on the way to it.
	full string
	// make is what must be made on this machine when it is missing: the
	// settings in use.
	make    string
	because Reason
}

// add puts a place into the draft, unless something that ranks higher, or was
// there first, stands at its path.
func (d *draft) add(p place) {
	d.forOthers(&p)
	old, there := d.places[p.at]
	if there {
		low, high := old, &p
		if low.rank > high.rank {
			low, high = high, low
		}
		if low.rank == rankHide && (high.rank == rankRead || high.rank == rankWrite) {
			d.without("hide %s: %s names it too, so it is open", shown(p.at), high.because.Member)
		}
		if old.rank >= p.rank {
			return
		}
	}
	d.places[p.at] = &p
}

// above gives the place that decides about a path: its own, or that of the
// nearest folder above.
func (d *draft) above(path string) *place {
	for {
		if p, ok := d.places[path]; ok && !d.saysNothing(p) {
			return p
		}
		if path == "/" {
			return nil
		}
		path = parent(path)
	}
}

// saysNothing says whether a place that only opens lies where something else
// was said already. What is hidden counts here even where nothing had to be
// covered.
func (d *draft) saysNothing(p *place) bool {
	if p.kind != readOnly || p.from != "" || !p.rank.implied() || p.at == "/" {
		return false
	}
	up := d.above(parent(p.at))
	return up != nil && (up.kind.writable() || up.kind == shut)
}

// standing gives what stands at a path, for what is protected there: nothing,
// when it is only the stub of another run. That run removes it, and a mount on
// it would go with it; so this run holds it as well. text is what such a stub
// says, where it is a file. See package stubs for the mark.
func (d *draft) standing(at, text string) Node {
	n := d.t.node(at)
	if n.Mode&sticky == 0 {
		return n
	}
	switch n.Kind {
	case Folder:
		if names, whole := d.t.names(at); whole && len(names) == 0 {
			return Node{}
		}
	case File:
		if says, whole := d.t.text(at); whole && (says == "" || says == text) {
			return Node{}
		}
	}
	return n
}

// follow makes sure that the links passed on the way to a named path lead to
// the same place inside.
func (d *draft) follow(links []string) {
	for _, at := range links {
		d.links[at] = d.t.resolve(at).real
	}
}

// writeFolders gives the real folders that a confinement's write names.
func writeFolders(t *tree, c client.Confinement) []string {
	var folders []string
	for _, w := range c.Write {
		if r := t.resolve(w); r.node.Kind == Folder {
			folders = append(folders, r.real)
		}
	}
	return folders
}

// plantedIn gives the write folder in which a path, or a link on the way to
// it, lies; "" when there is none. What lies there an earlier run can have
// put there.
func plantedIn(t *tree, path string, writes []string) string {
	r := t.resolve(path)
	for _, w := range writes {
		if within(r.real, w) {
			return w
		}
	}
	return linkedIn(r.links, writes)
}

// linkedIn gives the write folder in which one of the links lies, or "".
func linkedIn(links, writes []string) string {
	for _, l := range links {
		for _, w := range writes {
			if below(l, w) {
				return w
			}
		}
	}
	return ""
}
