package cli

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"os"
	"slices"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/asks"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/shim"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// A toolbox serves the routes that run something of this machine: tools, and
// the opener of pages.
type toolbox struct {
	host *tool.Host
	desk *asks.Desk
}

// newToolbox makes what serves the flags' tools, or nothing where there are
// none. What the program writes and reads, where a tool may be started, is in
// the wall's command; where the proxy starts no wall it is nothing.
func newToolbox(f proxyFlags, told *teller) (*toolbox, error) {
	if !slices.ContainsFunc(f.mounts.Routes, runsOutside) {
		return nil, nil
	}
	c, settings, walled := stages.Confined(f.command)
	if !walled && f.Listen != nil && len(f.command) > 0 {
		c.Read = []string{"/"} // unwalled: the program goes where it likes
	}
	closed := append([]string{}, c.Hide...)
	settings = cmp.Or(settings, f.Settings)
	if settings == "" {
		folder, err := client.Settings()
		if err != nil {
			return nil, err
		}
		settings = string(folder)
	}
	closed = append(closed, settings)
	config := asks.Config{
		Folder:     asks.Folder(client.SettingsFolder(settings).Sandbox()),
		Terminal:   f.Tell, // started by run: whoever typed that is there
		OnTerminal: asks.OnTerminal, Alone: asks.Alone,
	}
	if f.Tell {
		config.Tell = told.say
	}
	desk := asks.New(config)
	host, err := tool.New(tool.Config{
		Sandbox: f.Name, Environ: os.Environ(), Write: c.Write, Read: c.Read, Own: c.WriteDotFiles, Closed: closed, Ask: desk, Made: noted,
	})
	if err != nil {
		return nil, err
	}
	return &toolbox{host, desk}, nil
}

// noted has a call's end in the proxy's log.
func noted(ctx context.Context, m tool.Made) {
	refused := ""
	if m.Refused != nil {
		refused = m.Refused.Error()
	}
	proxy.Outcome(ctx, m.Outcome(), refused)
}

func runsOutside(r route.Route) bool {
	switch r.Kind.(type) {
	case route.Tool, route.Open:
		return true
	}
	return false
}

// kinds adds the makers of what the toolbox serves to others.
func (t *toolbox) kinds(others routes.Kinds) routes.Kinds {
	if t == nil {
		return others
	}
	all := maps.Clone(others)
	all["tool"] = func(r route.Route, _ routes.With) (routes.Bridge, error) {
		kind := r.Kind.(route.Tool)
		if err := t.host.Check(kind); err != nil {
			return nil, err
		}
		return hosted{t.host.Tool(r.Name, kind)}, nil
	}
	all["open"] = func(route.Route, routes.With) (routes.Bridge, error) {
		// One that is not there is said when a page is opened.
		return hosted{t.host.Opener(t.host.Find(shim.OpenName))}, nil
	}
	return all
}

// hosted is a bridge that ends with its host, each call of which ends with its
// caller.
type hosted struct{ http.Handler }

func (h hosted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	proxy.Attended(r.Context())
	h.Handler.ServeHTTP(w, r)
}

func (hosted) Close() error { return nil }

// below says which process the program runs below.
func (t *toolbox) below(pid int) {
	if t != nil {
		t.desk.Below(pid)
	}
}

// Close ends every call.
func (t *toolbox) Close() {
	if t != nil {
		t.desk.Close()
		t.host.Close()
	}
}

// namesInside are the names that routes give our own program inside: the
// tools', and xdg-open for pages.
func namesInside(all []route.Route) []string {
	var names []string
	for _, r := range all {
		switch r.Kind.(type) {
		case route.Tool:
			names = append(names, r.Name)
		case route.Open:
			names = append(names, shim.OpenName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
