package linuxwall

import (
	"maps"
	"slices"
)

// arrange gives the places that differ from what is above them, with the pins
// that hold them in place, folders before what lies in them.
func (d *draft) arrange() ([]*place, error) {
	d.settle()
	var kept, holding []*place // holding are those that the next may lie in
	under := map[*place]*place{}
	for _, p := range sorted(maps.Values(d.places)) {
		for len(holding) > 0 && !below(p.at, holding[len(holding)-1].at) {
			holding = holding[:len(holding)-1]
		}
		var g *place
		if len(holding) > 0 {
			g = holding[len(holding)-1]
		}
		keep, err := d.keeps(p, g)
		if err != nil {
			return nil, err
		}
		if keep {
			kept, under[p] = append(kept, p), g
			holding = append(holding, p)
		}
	}
	pins := map[string]*place{}
	for _, p := range kept {
		g := under[p]
		if g == nil || !g.kind.writable() {
			continue
		}
		for dir := parent(p.at); dir != g.at; dir = parent(dir) {
			if pins[dir] == nil {
				pins[dir] = &place{at: dir, kind: pinned, node: d.t.node(dir), because: pinFor(p)}
			}
		}
	}
	return sorted(maps.Values(joinMaps(kept, pins))), nil
}

func pinFor(p *place) Reason {
	return Reason{Member: p.because.Member, Text: "so that " + shown(p.at) + " is not renamed away"}
}

func joinMaps(kept []*place, pins map[string]*place) map[string]*place {
	all := maps.Clone(pins)
	for _, p := range kept {
		all[p.at] = p
	}
	return all
}

func sorted(places func(func(*place) bool)) []*place {
	return slices.SortedFunc(places, func(a, b *place) int { return comparePaths(a.at, b.at) })
}

// settle moves what is closed and missing to its own path where the view holds
// a folder of ours: there it can be made, and so nothing else need be closed.
func (d *draft) settle() {
	for _, p := range sorted(maps.Values(d.places)) {
		if p.kind != shut || p.full == "" || p.full == p.at || !d.above(parent(p.at)).kind.private() {
			continue
		}
		delete(d.places, p.at)
		p.at, p.because.Text = p.full, ""
		d.add(*p)
	}
}

// keeps says whether a place is needed below the one that holds it: what that
// one gives already is not mounted again, each mount costs the start 0.1 ms
// and more the more there are.
func (d *draft) keeps(p, g *place) (bool, error) {
	if g == nil {
		return true, nil // the root
	}
	switch p.kind {
	case shut:
		return d.keepsShut(p, g)
	case pinned:
		return g.kind.writable(), nil
	case told:
		if !g.kind.writable() {
			return false, nil
		}
		return d.hold(p, File), nil
	case readOnly:
		if p.from != "" {
			return true, nil
		}
		return (g.kind != readOnly || g.others != p.others) && !d.saysNothing(p), nil
	case readWrite:
		// Never merged with a write folder above: its dot files are protected
		// by where it stands.
		return true, nil
	}
	if p.kind == ours && p.rank == rankDot {
		return d.hold(p, Folder), nil
	}
	// One of ours needs a folder to stand on.
	r := d.t.resolve(p.at)
	return !g.kind.host() || r.node.Kind == Folder && r.real == p.at, nil
}

func (d *draft) keepsShut(p, g *place) (bool, error) {
	switch {
	case g.kind == procFS:
		return true, nil
	case !g.kind.host():
		// Nothing of this machine's is there. What is named stays closed even
		// so where the program could make it.
		return g.kind.private() && (p.rank == rankHide || p.rank == rankSettings), nil
	case p.rank == rankTools && g.rank != rankTools:
		return false, nil
	case p.node.Kind == Missing && p.make != "":
		if !slices.Contains(d.plan.Make, p.make) {
			d.plan.Make = append(d.plan.Make, p.make)
		}
		return true, nil
	case p.node.Kind == Missing && g.kind == readOnly && p.rank != rankSettings:
		return false, nil // it cannot be made there
	case p.node.Kind == Missing:
		return d.hold(p, Folder), nil
	case p.node.Kind == Unseen && g.kind == readOnly:
		return false, nil // nor can it be made to be seen
	case p.node.Kind == Unseen:
		return false, refuse(p.because.Member, p.because.Entry, "cannot be looked at, so it cannot be closed: permission denied", nil)
	}
	return true, nil
}

// hold asks for a placeholder where something is missing, unless nothing can
// be made there, by the program neither.
func (d *draft) hold(p *place, kind Kind) bool {
	above := parent(p.at)
	if !d.t.makeable(above) {
		return false
	}
	d.plan.Placeholders = append(d.plan.Placeholders, Placeholder{
		Path: p.at, Kind: kind, Text: p.text, Above: d.t.node(above), Because: p.because,
	})
	return true
}
