package linuxwall

import (
	"fmt"
	"slices"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// named opens what write, read and read_home name.
func (d *draft) named() error {
	for _, entry := range d.c.Write {
		if err := d.open("write", entry); err != nil {
			return err
		}
	}
	for _, entry := range d.c.Read {
		if err := d.open("read", entry); err != nil {
			return err
		}
	}
	return d.readHome()
}

// open opens one entry of write or read.
func (d *draft) open(member, entry string) error {
	r := d.t.resolve(entry)
	if err := d.judgeNamed(member, entry, r); err != nil {
		return err
	}
	if d.isClosed(r.real) {
		d.without("%s %s: lies in the settings, which stay closed", member, shown(entry))
		return nil
	}
	d.follow(r.links)
	p := place{at: r.real, kind: readOnly, rank: rankRead, node: r.node, because: Reason{Member: member, Entry: entry}}
	if member == "write" {
		if d.t.readOnly(r.real) {
			return refuse(member, entry, "is mounted read only, so nothing can be written there: name it in read", nil)
		}
		if why := d.mayNotWrite(r); why != "" {
			d.warn("write %s: %s", shown(entry), why)
		}
		p.kind, p.rank = readWrite, rankWrite
		whole := slices.Contains(d.opened(parent(r.real)), parent(r.real))
		if isGit(entry, r.real) && !whole {
			return d.openGit(p)
		}
	}
	d.add(p)
	return nil
}

// mayNotWrite says that what is named to be written is somebody else's: the wall
// lets the program write there, and its mode does not. What lies in a folder may
// be written all the same, so that it is no reason to refuse. Root is known by
// the mode: inside, it is no more than anybody.
func (d *draft) mayNotWrite(r resolution) string {
	n := r.node
	switch {
	case n.Kind != Folder:
	case d.f.UID == 0 && n.UID != 0 && n.Mode&otherWrite == 0 && (n.GID != 0 || n.Mode&groupWrite == 0):
		return fmt.Sprintf("belongs to user %d, and root in a sandbox is no more than anybody, so that nothing can be made there: run it as that user", n.UID)
	case d.f.UID != 0 && n.UID != uint32(d.f.UID) && !d.t.makeable(r.real):
		return fmt.Sprintf("belongs to user %d, who lets you make nothing there", n.UID)
	}
	return ""
}

// judgeNamed refuses what cannot be opened, or not without opening more.
func (d *draft) judgeNamed(member, entry string, r resolution) error {
	switch r.node.Kind {
	case Missing:
		return refuse(member, entry, "no such file or folder: make it first", nil)
	case Unseen:
		return refuse(member, entry, "cannot be looked at: permission denied", nil)
	case Tangled:
		return refuse(member, entry, "its links lead in a circle", nil)
	case Socket:
		return refuse(member, entry, "is a socket: what listens there is outside the wall, so a sandbox never reaches it", nil)
	case Device:
		return refuse(member, entry, "is a device: a sandbox has a /dev of its own", nil)
	}
	if err := d.judgeLinks(member, entry, r.links); err != nil {
		return err
	}
	at := r.real
	switch {
	case at == "/" && member == "write":
		return refuse(member, entry, "is the whole machine: name the folder that is meant", nil)
	case within(at, "/proc"):
		return refuse(member, entry, "a sandbox has a /proc of its own, of its own processes", nil)
	case within(at, "/dev"):
		return refuse(member, entry, "a sandbox has a /dev of its own, and devices are not opened", nil)
	case within(at, "/sys") && member == "write":
		return refuse(member, entry, "is the kernel's: it is never writable", nil)
	case at == "/run" || within(at, ownFolder):
		return refuse(member, entry, "a sandbox has a /run of its own: name what is needed in it", nil)
	}
	return nil
}

// judgeLinks refuses a path that a link leads to in a write folder, or in one
// that an earlier sandbox wrote: a run can have put it there to have something
// else opened.
func (d *draft) judgeLinks(member, entry string, links []string) error {
	for _, l := range links {
		if in := linkedIn([]string{l}, d.writes); in != "" {
			return refuse(member, entry, "passes the link "+shown(l)+", which the program could have put there since "+shown(in)+" is in write: name where it leads", nil)
		}
		if in := d.t.earlier(l); in != "" {
			return refuse(member, entry, "passes the link "+shown(l)+", which an earlier sandbox could have put there since it wrote "+shown(in)+": name where it leads, "+shown(d.t.resolve(entry).real), nil)
		}
	}
	return nil
}

// readHome opens the home folder to read.
func (d *draft) readHome() error {
	if !d.c.ReadHome {
		return nil
	}
	if d.f.Home == "" {
		return refuse("read_home", "", "no home folder is known: set HOME", nil)
	}
	r := d.t.resolve(d.f.Home)
	if r.node.Kind != Folder {
		return refuse("read_home", d.f.Home, "the home folder is "+r.node.Kind.String(), nil)
	}
	if err := d.judgeLinks("read_home", d.f.Home, r.links); err != nil {
		return err
	}
	d.follow(r.links)
	d.add(place{at: r.real, kind: readOnly, rank: rankReadHome, node: r.node, because: Reason{Member: "read_home"}})
	return nil
}

// settings closes the settings folders, whatever is named, by every name that
// a mount gives them. It runs before anything is opened.
func (d *draft) settings() error {
	for i, dir := range d.f.Settings {
		r := d.t.resolve(dir)
		switch r.node.Kind {
		case Missing, Folder:
		case Unseen:
			// The one in use must be seen. Another that this user may not even
			// look at, as root's in a namespace that calls a user root, is
			// closed to the program as it is to us.
			if i > 0 {
				continue
			}
			return refuse("settings", dir, "cannot be looked at", nil)
		default:
			return refuse("settings", dir, "is "+r.node.Kind.String()+", not a folder", nil)
		}
		if in := linkedIn(r.links, d.writes); in != "" {
			return refuse("settings", dir, "is reached by a link in "+shown(in)+", which the program could replace: put the folder itself there, or set LNK_HOME to where it leads", nil)
		}
		for _, l := range r.links {
			if in := d.t.earlier(l); in != "" {
				return refuse("settings", dir, "is reached by the link "+shown(l)+", which an earlier sandbox could have put there since it wrote "+shown(in)+": put the folder itself there, or set LNK_HOME to where it is", nil)
			}
		}
		for _, real := range append(d.aliases(r), r.real) {
			d.closed = append(d.closed, real)
			if i > 0 {
				d.unstub(&r)
			}
			p := place{at: real, kind: shut, rank: rankSettings, node: r.node, because: Reason{Member: "settings", Entry: dir}}
			if r.node.Kind == Missing {
				// What is closed is the first that is missing: until it is
				// made there is nothing below it to mount on.
				if real == r.real {
					p.at, p.full = r.missing, real
				}
				if i == 0 {
					p.make = real
				}
			}
			d.add(p)
		}
	}
	return nil
}

// aliases gives the other paths at which mounts show what a path leads to: the
// same file system mounted twice, or a folder of it bound elsewhere
// (mount(8), --bind). Each counts only where the same thing really stands.
func (d *draft) aliases(r resolution) []string {
	var in procfs.Mount
	for _, m := range d.f.Mounts {
		if within(r.real, m.Point) && len(m.Point) >= len(in.Point) {
			in = m
		}
	}
	if in.Point == "" {
		return nil
	}
	inside := rebase(r.real, in.Point, in.Root)
	var found []string
	for _, m := range d.f.Mounts {
		if m.Dev != in.Dev || !within(inside, m.Root) {
			continue
		}
		at := rebase(inside, m.Root, m.Point)
		if at == r.real || slices.Contains(found, at) || !d.sameThing(at, r) {
			continue
		}
		found = append(found, at)
	}
	return found
}

// sameThing says whether a path really leads to what was resolved, or, where
// that is missing, whether it would be made in the same folder.
func (d *draft) sameThing(at string, r resolution) bool {
	a := d.t.resolve(at)
	if a.real != at {
		return false
	}
	if r.node.Kind != Missing {
		return a.node.same(r.node)
	}
	above := d.t.resolve(parent(at))
	return above.node.Kind == Folder && above.node.same(d.t.resolve(parent(r.real)).node)
}

// rebase takes a path from one folder to another.
func rebase(path, from, to string) string {
	if path == from {
		return to
	}
	if from != "/" {
		path = path[len(from):]
	}
	if to == "/" {
		return path
	}
	return to + path
}

// hidden closes what hide names.
func (d *draft) hidden() error {
	for _, entry := range closedPaths(d.c) {
		r := d.t.resolve(entry)
		if r.node.Kind == Tangled {
			return refuse("hide", entry, "its links lead in a circle", nil)
		}
		if err := d.judgeLinks("hide", entry, r.links); err != nil {
			return err
		}
		if r.real == "/" {
			return refuse("hide", entry, "is everything: name what is meant", nil)
		}
		if why := shownAnyhow(r); why != "" {
			if len(r.links) == 0 || within(entry, "/proc") || within(entry, "/dev") {
				return refuse("hide", entry, why, nil)
			}
			// A name that was led to /dev/null holds nothing.
			if r.real != "/dev/null" {
				d.without("hide %s: leads to %s: %s", shown(entry), shown(r.real), why)
			}
			continue
		}
		if why := client.Unexpanded(entry); r.missing != "" && why != "" {
			d.without("hide %s: nothing is called so, and %s", shown(entry), why)
		}
		d.unstub(&r)
		p := place{at: r.real, kind: shut, rank: rankHide, node: r.node, because: Reason{Member: "hide", Entry: entry}}
		if r.missing != "" {
			if p.at, p.full = r.missing, r.real; p.at != r.real {
				p.because.Text = "the first that is missing on the way to it"
			}
		}
		d.follow(r.links)
		if up := parent(p.at); r.missing != "" && d.t.node(up).Kind != Folder {
			// Nothing can be made in a file, as long as it stays one.
			d.add(place{at: up, kind: pinned, rank: rankView, node: d.t.node(up), because: pinFor(&p)})
			continue
		}
		d.add(p)
		for _, at := range d.aliases(r) {
			p.at = at
			d.add(p)
		}
	}
	return nil
}

// shownAnyhow says why a path is in view and cannot be closed: it is of a file
// system that is the sandbox's own, and not this machine's. Other devices are
// not in it, and of the machine's processes only those by which this one calls
// itself.
func shownAnyhow(r resolution) string {
	first := func(in string) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.real, in), "/")
		return name
	}
	switch {
	case r.real == "/proc", within(r.real, "/proc") && r.missing == "" && (itself(r.links) || strings.Trim(first("/proc/"), "0123456789") != ""):
		return "a sandbox has a /proc of its own, of its own processes, and nothing in it is hidden: leave it out"
	case r.real != "/dev" && within(r.real, "/dev") && slices.Contains(ownDevices, first("/dev/")):
		return "a sandbox has a /dev of its own, and this is in it: hide /dev is without all of them"
	}
	return ""
}

func itself(links []string) bool {
	return slices.Contains(links, "/proc/self") || slices.Contains(links, "/proc/thread-self")
}

// ownDevices are what a sandbox's /dev holds, but for shm.
var ownDevices = []string{"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "core", "fd", "stdin", "stdout", "stderr"}

// unstub takes a hidden path that leads to the stub of another run, or into
// one, for the missing one that it was.
func (d *draft) unstub(r *resolution) {
	switch up := parent(r.missing); {
	case r.node.Kind == Folder && d.standing(r.real, "").Kind == Missing:
		r.missing, r.node = r.real, Node{}
	case r.missing != "" && d.t.node(up).Kind == Folder && d.standing(up, "").Kind == Missing:
		r.missing = up
	}
}

// sockets closes the sockets of this machine in whatever is opened: connecting
// is no write, so a read-only mount does not stop it (connect(2), unix(7)).
func (d *draft) sockets() error {
	n := 0
	// Those that were found in write folders count by whether they answer: a
	// path that was relative when it was bound, or another namespace's, is in
	// no table here. One that does not is what a program left that ended, and
	// is its own to bind again.
	at := slices.DeleteFunc(slices.Clone(d.plan.Below.Found.Sockets), func(at string) bool { return !d.t.answers(at) })
	for _, bound := range d.f.Sockets {
		if clean := cleanAbsolute(bound); clean != "" {
			at = append(at, clean)
		}
	}
	for _, at := range at {
		r := d.t.resolve(at)
		if r.node.Kind != Socket || !d.above(r.real).kind.host() {
			continue
		}
		if n++; n > maxSockets {
			return refuse("sockets", "", "too many sockets of this machine lie in what is opened: name less", nil)
		}
		d.add(place{at: r.real, kind: shut, rank: rankSocket, node: r.node, because: Reason{Member: "sockets", Text: "what listens there is outside the wall"}})
	}
	return nil
}

// isGit says whether a folder is named as a repository's own.
func isGit(entry, real string) bool { return base(entry) == ".git" || base(real) == ".git" }
