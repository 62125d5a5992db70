package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	"github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// What only a program in Go can say wrong is refused as what is read.
func TestValuesMadeInGo(t *testing.T) {
	handed := route.Secret{Host: "a.example", Header: "A", Value: "v1", Placeholder: "p1"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{client.RunWith{Secrets: []client.Secret{{Secret: handed, URL: "U", Placeholder: "P"}}}.Check(), "/secrets/0/secret/placeholder: run makes it, leave it out"},
		{client.RunWith{Serve: []uint16{0}}.Check(), "/serve/0: 0: want a port of 1 to 65535"},
		{client.WriteTraffic(new(countingWriter), []measure.Traffic{{PID: 0, Sandbox: "a"}}), "/0/pid: want the id of a process"},
		{client.WriteTrafficRecord(new(countingWriter), measure.Traffic{PID: -1, Sandbox: "a"}), "/pid: want the id of a process"},
		{client.WriteTraffic(new(countingWriter), nil), ""},
		{client.NetOf(client.Reaching{Reached: []client.Reached{{Dir: "/d", Port: 0}}}).Check(), "/reaching/reached/0/port: 0: want a port of 1 to 65535"},
		{client.NetOf(client.Reaching{Reached: []client.Reached{{Dir: "/d", Port: 1}}, Ports: []uint16{2, 2}}).Check(), "/reaching/ports/1: 2: named twice"},
		{client.NetOf(client.Closed{}).Check(), ""},
		{client.WriteProxyBound(new(countingWriter), client.ProxyBound{Error: "\x00"}), "/error: holds a NUL"},
		{client.Wires{Paused: []client.PausedWire{{Sandbox: "a", Why: "\x00"}}}.Check(), "/paused/0/why: holds a NUL"},
		{client.Proxy{Upstream: "direct", Dir: "/d", Secret: "short"}.Check(), "/secret: want 16 to 64 letters and digits"},
		{client.Proxy{Upstream: "direct", Dir: "/d", Caller: &route.Caller{Sandbox: "a"}}.Check(), "/caller/key: empty"},
		{client.Proxy{Upstream: "direct", Dir: "/d", Routes: make([]route.Route, 65)}.Check(), "/routes: 65 routes, want at most 64"},
		{client.ProxyBind{Upstream: "direct", Routes: []route.Route{{Name: "a", Kind: route.Open{}}}}.Check(), "/caller: missing: routes have a caller"},
		{client.Unwalled{Name: "a", Proxy: client.Proxy{Upstream: "direct", TCP: []string{""}}}.Check(), "/proxy/tcp/0: empty"},
		{client.Unwalled{Proxy: client.Proxy{Upstream: "direct"}}.Check(), "/name: empty, want a name"},
	} {
		if got := message(c.err); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
		if c.err != nil && !errors.Is(c.err, client.ErrRequest) {
			t.Errorf("%v is no refusal", c.err)
		}
	}
	if got := (client.Net{}).ModeName(); got != "" {
		t.Errorf("no mode is called %q", got)
	}
	// Nothing said is nothing allowed.
	if paths, restricted := (client.Commands{}).Only(); !restricted || len(paths) > 0 {
		t.Errorf("nothing said allows %v, restricted %v", paths, restricted)
	}
}

// A TOML library gives a word to UnmarshalText, and a table to Paths; what it
// leaves out of a table is refused.
func TestCommandsFromTOML(t *testing.T) {
	c := client.OnlyCommands("/a")
	if err := c.UnmarshalText([]byte("any")); err != nil || c.Check() != nil {
		t.Errorf("%v, %v", err, c.Check())
	}
	if _, restricted := c.Only(); restricted {
		t.Error("any is restricted")
	}
	for _, word := range []string{"", "Any", "none", "any\n"} {
		c := client.OnlyCommands("/a")
		if err := c.UnmarshalText([]byte(word)); !errors.Is(err, client.ErrRequest) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", word, err)
		}
		if _, restricted := c.Only(); !restricted {
			t.Errorf("%q opened it", word)
		}
	}
	misspelled := client.Spec{Name: "w", Program: client.SpecProgram{Commands: new(client.Commands)}}
	if err := misspelled.Check(); err == nil {
		t.Error("a table with nothing in it is taken")
	}
}
