package carry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

const (
	connectTime   = 10 * time.Second
	maxSocketHead = 64 << 10
)

// A socketError is why a plugin's socket is not called. It holds nothing that
// the program must not have.
type socketError struct{ why string }

func (e *socketError) Error() string { return e.why }

type socket struct{ carrier carrier }

// newSocket makes the bridge of what another plugin serves on a unix socket. Where
// the socket is, links followed, is settled here, before the program runs; a
// link that stands there later is not followed.
func newSocket(r route.Route, with routes.With) (routes.Bridge, error) {
	k, is := r.Kind.(route.Bridge)
	if !is {
		return nil, fmt.Errorf("a route of kind %q: this is a bug of the caller", r.KindName())
	}
	path := route.Follow(filepath.EvalSymlinks)(k.Socket)
	transport := &http.Transport{
		DisableCompression:     true,
		DisableKeepAlives:      true, // the socket is looked at on every call
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxSocketHead,
		Protocols:              new(http.Protocols),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dial(ctx, with.Proxy, path)
		},
	}
	transport.Protocols.SetHTTP1(true)
	return &socket{carrier{
		proxy: with.Proxy, client: transport, mount: with.Mount,
		scheme: "http", host: "localhost", ask: unforwarded,
	}}, nil
}

func dial(ctx context.Context, p *proxy.Proxy, path string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	c, err := dialSocket(ctx, path)
	if err != nil {
		return nil, err
	}
	return p.Hold(c)
}

// unforwarded takes out what a program says of hosts before it.
func unforwarded(out *http.Request) {
	for name := range out.Header {
		if forwarded(strings.ReplaceAll(strings.ToLower(name), "_", "-")) {
			delete(out.Header, name)
		}
	}
}

// ServeHTTP carries a request.
func (s *socket) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.carrier.serve(w, r) }

// Close has nothing to close: no connection is kept.
func (s *socket) Close() error { return nil }
