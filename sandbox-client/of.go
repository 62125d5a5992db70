package client

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Of makes the confinement of a spec: its paths in full, its routes, and what
// holds credentials hidden when the home folder is read. What it refuses is a
// [*SpecError], which names the spec's own key and says what to do; another
// error is of the machine or of base.
func Of(spec Spec, base Base) (Confinement, error) {
	var none Confinement
	if err := checkSpec(spec, base); err != nil {
		return none, err
	}
	c := Confinement{
		Name:           spec.Name,
		ReadHome:       spec.Files.ReadHome,
		TmpPrefix:      spec.Files.TmpPrefix,
		Terminal:       spec.Program.Terminal,
		DeveloperTools: spec.Program.DeveloperTools,
	}
	var err error
	if c.Write, err = base.places("files.write", spec.Files.Write, base.CheckWrite); err != nil {
		return none, err
	}
	if c.Read, err = base.places("files.read", spec.Files.Read, base.checkThere); err != nil {
		return none, err
	}
	if c.WriteDotFiles, err = base.places("files.write_dot_files", spec.Files.WriteDotFiles, c.opensDotFiles); err != nil {
		return none, err
	}
	if c.Hide, err = base.places("files.hide", spec.Files.Hide, base.checkHide); err != nil {
		return none, err
	}
	if c.ReadHome {
		c.Hide = base.hideCredentials(c)
	}
	if c.Commands, err = base.commands(spec.Program.Commands); err != nil {
		return none, err
	}
	if c.Net, err = base.net(spec.Network, base.beside(c)); err != nil {
		return none, err
	}
	// Nothing is left that Check refuses; if it does, it is a fault of ours.
	if err := c.Check(); err != nil {
		return none, errors.New("the confinement made of the spec is refused, a fault of lnk: " + err.Error())
	}
	return c, nil
}

// UnwalledOf makes what a program with no wall runs under: the proxy of the
// spec's network, whose mode is proxied and whose upstream is direct. Nothing
// of its files or its program is enforced without a wall. Pointed points the
// program at the proxy.
func UnwalledOf(spec Spec, base Base, pointed bool) (Unwalled, error) {
	if err := checkSpec(spec, base); err != nil {
		return Unwalled{}, err
	}
	n := spec.Network
	if n.mode() != modeProxied {
		return Unwalled{}, &SpecError{"network.mode", form.Quote(n.mode()) + ": nothing holds a program with no wall to it, want proxied"}
	}
	if n.Upstream != "" && n.Upstream != "direct" {
		return Unwalled{}, &SpecError{"network.upstream", "want direct: a program with no wall is not held to a proxy"}
	}
	proxy, err := base.proxy(n, route.Beside{})
	if err != nil {
		return Unwalled{}, err
	}
	u := Unwalled{Name: spec.Name, Proxy: proxy, Pointed: pointed}
	if err := u.Check(); err != nil {
		return Unwalled{}, errors.New("what was made of the spec is refused, a fault of lnk: " + err.Error())
	}
	return u, nil
}

func checkSpec(spec Spec, base Base) error {
	if err := specError(spec.Check()); err != nil {
		return err
	}
	if spec.Name == "" {
		return &SpecError{"name", "missing"}
	}
	return base.check()
}

// places gives the paths of one key in full, each once, as check allows them.
func (b Base) places(key string, entries []string, check func(string) error) ([]string, error) {
	out := []string{}
	for _, entry := range entries {
		if entry == "" {
			return nil, keyError(key, form.Refuse(form.Quote(entry)+": empty, name a file or folder (of a variable, see that it is set)"))
		}
		p := b.absolute(entry)
		if err := check(p); err != nil {
			return nil, keyError(key, err)
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

// keyError makes a refusal the spec's; another error stays what it is.
func keyError(key string, err error) error {
	var e *form.Error
	if !errors.As(err, &e) {
		return err
	}
	return &SpecError{key, e.Problem}
}

func (b Base) checkThere(p string) error {
	_, err := b.thereIs(p)
	return err
}

// hideCredentials adds what holds credentials to what is hidden, but for what
// the spec opens by its very name.
func (b Base) hideCredentials(c Confinement) []string {
	hide := slices.Clone(c.Hide)
	for _, name := range Credentials() {
		p := filepath.Join(b.Home, name)
		if !slices.Contains(hide, p) && !slices.Contains(c.Write, p) && !slices.Contains(c.Read, p) {
			hide = append(hide, p)
		}
	}
	return hide
}

func (b Base) commands(c *Commands) (Commands, error) {
	if c == nil {
		return AnyCommand(), nil
	}
	paths, restricted := c.Only()
	if !restricted {
		return AnyCommand(), nil
	}
	for _, entry := range paths {
		if p := b.absolute(entry); entry != "" && !strings.Contains(entry, "/") && b.missing(p) {
			return Commands{}, &SpecError{"program.commands.only", form.Quote(p) + ": not there: in a spec a program is named by its path, as `command -v " + form.OneLine(entry) + "` says it"}
		}
	}
	paths, err := b.places("program.commands.only", paths, b.checkThere)
	if err != nil {
		return Commands{}, err
	}
	return OnlyCommands(paths...), nil
}

// missing says whether a path is known not to be there.
func (b Base) missing(p string) bool {
	if b.Resolve == nil {
		return false
	}
	_, err := b.Resolve(p)
	return errors.Is(err, fs.ErrNotExist)
}

func (b Base) net(n SpecNetwork, beside route.Beside) (Net, error) {
	ports := append([]uint16{}, n.Ports...)
	switch n.mode() {
	case modeLoopback:
		return NetOf(Loopback{Ports: ports, Dir: b.Sockets}), b.checkSockets()
	case modeProxied:
		if err := b.checkSockets(); err != nil {
			return Net{}, err
		}
		proxy, err := b.proxy(n, beside)
		return NetOf(Proxied{Proxy: proxy, Ports: ports}), err
	case modeHost:
		return NetOf(Host{Ports: ports, Localhost: n.Localhost}), nil
	}
	return NetOf(Closed{}), nil
}

func (b Base) checkSockets() error {
	if err := form.Path(b.Sockets); err != nil {
		return errors.New("client.Base: Sockets: " + err.Error())
	}
	return nil
}

func (b Base) proxy(n SpecNetwork, beside route.Beside) (Proxy, error) {
	p := Proxy{
		Upstream:   n.Upstream,
		Dir:        b.Sockets,
		Serve:      slices.Clone(n.Serve),
		Hosts:      slices.Clone(n.Hosts),
		TCP:        slices.Clone(n.TCP),
		LAN:        n.LAN,
		NoInternet: n.NoInternet,
	}
	if p.Upstream == "" {
		p.Upstream = "direct"
	}
	if n.PerMinute != nil {
		p.PerMinute = *n.PerMinute
	}
	var err error
	p.Routes, err = b.routes(n, beside)
	return p, err
}

// routes makes the routes of a spec. Those that do something on this machine
// are mounted under the URL secret, since a proxy on loopback can be called by
// all that runs on it.
func (b Base) routes(n SpecNetwork, beside route.Beside) ([]route.Route, error) {
	var routes []route.Route
	// try adds a route, or says which key cannot have it.
	try := func(key, entry string, r route.Route) error {
		routes = append(routes, r)
		var e *form.Error
		if err := route.CheckRoutes(routes, beside); errors.As(err, &e) {
			return &SpecError{key, entry + ": " + e.Problem}
		}
		return nil
	}
	for _, name := range n.Tools {
		tool, err := b.tool(name)
		if err != nil {
			return nil, err
		}
		if err := try("network.tools", form.Quote(name), route.Route{Name: name, NeedsSecret: true, Kind: tool}); err != nil {
			return nil, err
		}
	}
	for _, port := range n.LocalModels {
		at := strconv.Itoa(int(port))
		if err := try("network.local_models", at, localModel(port)); err != nil {
			return nil, err
		}
	}
	if n.Open {
		if err := try("network.open", "true", route.Route{Name: "open", NeedsSecret: true, Kind: route.Open{}}); err != nil {
			return nil, err
		}
	}
	return routes, nil
}

// LocalModelURL is where a program reaches a model server, at a port of this
// machine's loopback, on a proxy that listens on another port of it: of a spec's
// local_models, with a proxy that holds no program.
func LocalModelURL(listen, port uint16) string { return localModel(port).URL(listen, "") }

func localModel(port uint16) route.Route {
	return route.Route{Name: strconv.Itoa(int(port)), Kind: route.LocalModel{Port: port}}
}

func (b Base) tool(name string) (route.Tool, error) {
	missing := &SpecError{"network.tools", form.Quote(name) + ": no tool of that name runs outside, add it with lnk sandbox tool add"}
	if b.Tool == nil {
		return route.Tool{}, missing
	}
	tool, err := b.Tool(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return route.Tool{}, missing
	case err != nil:
		return route.Tool{}, &SpecError{"network.tools", form.Quote(name) + ": " + form.OneLine(err.Error())}
	}
	return tool, nil
}
