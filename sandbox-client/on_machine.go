package client

import (
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// CheckConfinement judges a confinement's own values and, on this machine,
// that nothing outside the wall lies where its program writes, also through
// symbolic links: a bridge's socket, a tool's program, the folder of a
// proxy's or a relay's sockets. lnk sandbox wrap judges by it.
func (b Base) CheckConfinement(c Confinement) error {
	if err := b.check(); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	beside := b.beside(c)
	dir := func(p string) error {
		if w, writes := beside.Writes(p); writes {
			return form.Refuse(form.Quote(p) + ": in " + form.Quote(w) + ", which the program writes and so could replace its sockets")
		}
		return nil
	}
	var err error
	switch m := c.Net.Mode().(type) {
	case Loopback:
		err = form.At("dir", dir(m.Dir))
	case Proxied:
		err = form.At("proxy", form.First(
			form.At("dir", dir(m.Proxy.Dir)),
			form.At("routes", route.CheckRoutes(m.Proxy.Routes, beside)),
		))
	case Reaching:
		err = form.At("reached", form.Each(m.Reached, func(r Reached) error { return form.At("dir", dir(r.Dir)) }))
	}
	return form.At("net", form.At(c.Net.ModeName(), err))
}

// beside is what a confinement's routes are mounted beside on this machine.
func (b Base) beside(c Confinement) route.Beside {
	return route.Beside{
		Write: c.Write, Hide: c.Hide, Closed: []string{string(b.Settings)},
		Resolve: b.follow, FoldCase: b.FoldCase,
	}
}
