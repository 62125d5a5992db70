package carry

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/account"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

type localModel struct {
	carrier carrier
	client  *proxy.Client
}

// newLocalModel makes the bridge of a model server on this machine's loopback. It
// sees itself named as localhost, and nothing of who calls.
func newLocalModel(r route.Route, with routes.With) (routes.Bridge, error) {
	k, is := r.Kind.(route.LocalModel)
	if !is {
		return nil, fmt.Errorf("a route of kind %q: this is a bug of the caller", r.KindName())
	}
	m := &localModel{client: with.Proxy.NewClient(with.TLS)}
	m.carrier = carrier{
		proxy: with.Proxy, client: m.client, mount: with.Mount,
		scheme: "http", host: "localhost:" + strconv.Itoa(int(k.Port)), ask: plainly,
	}
	return m, nil
}

// ServeHTTP carries a request.
func (m *localModel) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.carrier.serve(w, r) }

// Close closes the connections that are kept.
func (m *localModel) Close() error {
	m.client.Close()
	return nil
}

// plainly takes out what says who calls: the key is the plugins', and what a
// program says of hosts before it is made up.
func plainly(out *http.Request) {
	for name := range out.Header {
		low := strings.ReplaceAll(strings.ToLower(name), "_", "-")
		if strings.HasPrefix(low, "lnk-") || forwarded(low) {
			delete(out.Header, name)
		}
	}
}

// forwarded says whether a header is one that a proxy before a server says who
// asked, and for which host, in.
func forwarded(low string) bool {
	return account.OtherHost(low) || low == "via" || low == "x-real-ip" ||
		strings.HasPrefix(low, "x-forwarded-")
}
