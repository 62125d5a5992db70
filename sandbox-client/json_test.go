package client_test

import (
	stdjson "encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// Whichever JSON package a program uses, each type is read strictly and
// written as the contract has it.
func TestAnyJSON(t *testing.T) {
	for _, p := range []struct {
		name      string
		unmarshal func([]byte, any) error
		marshal   func(any) ([]byte, error)
	}{
		{"encoding/json", stdjson.Unmarshal, stdjson.Marshal},
		{"go-json-experiment", func(b []byte, v any) error { return json.Unmarshal(b, v) }, func(v any) ([]byte, error) { return json.Marshal(v) }},
	} {
		for _, c := range []struct {
			into any
			good string
			bad  []string
		}{
			{
				new(client.Confinement), `{"name":"a","write":[],"read":[],"commands":"any","net":"closed"}`,
				[]string{`{"name":"a","write":[],"read":[],"commands":"any"}`, `{"Name":"a","write":[],"read":[],"commands":"any","net":"closed"}`, `{"name":"a","write":["/p"],"write":[],"read":[],"commands":"any","net":"closed"}`, `[]`},
			},
			{new(client.Net), `{"host":{"ports":[],"localhost":true}}`, []string{`"host"`, `{}`, `{"host":{"ports":[],"localhost":true},"closed":{}}`, `true`}},
			{new(client.Commands), `{"only":["/a"]}`, []string{`"all"`, `{"only":["/a"],"only":[]}`, `{}`, `1`}},
			{new(client.Proxy), `{"upstream":"direct","dir":"/d","hosts":[],"listen":0}`, []string{`{"upstream":"direct"}`, `{"upstream":"direct","dir":"/d","per_minute":0}`, `{"upstream":"direct","dir":"/d","LAN":true}`}},
			{new(client.Spec), `{"network":{"mode":"proxied","hosts":[]}}`, []string{`{"network":{"Hosts":[]}}`, `{"files":null}`}},
			{new(client.RunWith), `{"env":{"A":"1","B":"2"},"secrets":[],"serve":[],"write":[]}`, []string{`{}`, `{"env":{"A":"1","A":"2"},"secrets":[],"serve":[],"write":[]}`}},
			{new(client.Unwalled), `{"name":"a","proxy":{"upstream":"direct","dir":""},"pointed":false}`, []string{`{"name":"a","proxy":{"upstream":"direct","dir":""}}`}},
			{new(client.WrapRequest), `{"unwalled":{"name":"a","proxy":{"upstream":"direct","dir":""},"pointed":false},"argv":["x"]}`, []string{`{"policy":{},"argv":["x"]}`, `{"argv":["x"],"ARGV":[]}`}},
			{new(client.CheckRequest), `{"confinement":{"name":"a","write":[],"read":[],"commands":"any","net":"closed"}}`, []string{`{}`, `{"confinement":{}}`}},
			{new(client.Wrapped), `{"argv":["x"],"env":{"A":"1","B":"2"}}`, []string{`{"argv":["x"]}`, `{"argv":["x"],"env":null}`}},
			{new(client.Secret), `{"secret":{"host":"a.example","header":"A","value":"v"},"url":"U","placeholder":"P"}`, []string{`{}`}},
			{new(client.ProxyBound), `{"error":"x"}`, []string{`{"Error":"x"}`}},
			{new(client.Wires), `{"stopped":true,"paused":[{"sandbox":"a","why":""}]}`, []string{`{"stopped":true}`, `{"stopped":true,"paused":[{"sandbox":"a"}]}`}},
			{new(client.ProxyBind), `{"upstream":"direct","host":[]}`, []string{`{}`, `{"upstream":"direct","desktop":0}`}},
		} {
			if err := p.unmarshal([]byte(c.good), c.into); err != nil {
				t.Errorf("%s, %T: %v", p.name, c.into, err)
				continue
			}
			before := reflect.ValueOf(c.into).Elem().Interface()
			if b, err := p.marshal(c.into); err != nil || string(b) != c.good {
				t.Errorf("%s, %T: wrote %s (%v)", p.name, c.into, b, err)
			}
			for _, bad := range c.bad {
				if err := p.unmarshal([]byte(bad), c.into); err == nil {
					t.Errorf("%s, %T: reads %s", p.name, c.into, bad)
				}
			}
			if after := reflect.ValueOf(c.into).Elem().Interface(); !reflect.DeepEqual(before, after) {
				t.Errorf("%s, %T: a refusal changed it", p.name, c.into)
			}
		}
		for _, v := range []any{client.Net{}, client.Commands{}, client.Confinement{}} {
			if b, err := p.marshal(v); err == nil {
				t.Errorf("%s wrote an empty %T: %s", p.name, v, b)
			}
		}
	}
}

// Lists and variables that are nil are empty, not null.
func TestNilIsEmpty(t *testing.T) {
	for want, v := range map[string]any{
		`{"env":{},"secrets":[],"serve":[],"write":[]}`: client.RunWith{},
		`{"argv":["x"],"env":{}}`:                       client.Wrapped{Argv: []string{"x"}},
		`{"stopped":false,"paused":[]}`:                 client.Wires{},
		`{"upstream":"direct","dir":"/d"}`:              client.Proxy{Upstream: "direct", Dir: "/d"},
		`{"loopback":{"ports":[],"dir":"/d"}}`:          client.NetOf(client.Loopback{Dir: "/d"}),
		`{}`:                                            client.Spec{},
		`{"name":"a","write":[],"read":[],"commands":"any","net":"closed"}`: client.Confinement{Name: "a", Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{})},
	} {
		if b, err := stdjson.Marshal(v); err != nil || string(b) != want {
			t.Errorf("%T: %s (%v)", v, b, err)
		}
	}
}

// No type is comparable, so that each can get members.
func TestNotComparable(t *testing.T) {
	for _, v := range []any{
		client.Confinement{}, client.Proxy{}, client.Unwalled{}, client.WrapRequest{}, client.CheckRequest{}, client.Wrapped{}, client.Spec{},
		client.RunWith{}, client.Secret{}, client.ProxyBind{}, client.ProxyBound{}, client.Wires{}, client.PausedWire{}, client.Base{},
	} {
		if reflect.TypeOf(v).Comparable() {
			t.Errorf("%T is comparable", v)
		}
	}
}

// What is wrong with a value made in Go is found when it is written, and
// nothing is.
func TestNothingInvalidIsWritten(t *testing.T) {
	good := client.Confinement{Name: "a", Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{})}
	proxied := func(p client.Proxy) func(*client.Confinement) {
		return func(c *client.Confinement) { c.Net = client.NetOf(client.Proxied{Proxy: p}) }
	}
	for want, change := range map[string]func(*client.Confinement){
		"":                                       func(*client.Confinement) {},
		"/confinement/name: ":                    func(c *client.Confinement) { c.Name = "" },
		"/confinement/net: no mode":              func(c *client.Confinement) { c.Net = client.Net{} },
		"/confinement/net: no mode, want one of": func(c *client.Confinement) { c.Net = client.NetOf(nil) },
		"/confinement/commands: neither":         func(c *client.Confinement) { c.Commands = client.Commands{} },
		"/confinement/commands: both": func(c *client.Confinement) {
			c.Commands = client.AnyCommand()
			c.Commands.Paths = []string{"/a"}
		},
		"/confinement/net/host/ports/0: 0: want a port":   func(c *client.Confinement) { c.Net = client.NetOf(client.Host{Ports: []uint16{0}}) },
		"/confinement/net/loopback/dir: empty":            func(c *client.Confinement) { c.Net = client.NetOf(client.Loopback{}) },
		"/confinement/net/proxied/proxy/upstream: want":   proxied(client.Proxy{Dir: "/d"}),
		"/confinement/net/proxied/proxy/per_minute: want": proxied(client.Proxy{Upstream: "direct", Dir: "/d", PerMinute: -1}),
	} {
		c := good
		change(&c)
		var w countingWriter
		err := client.WriteWrapRequest(&w, client.WrapRequest{Confinement: &c, Argv: []string{"x"}})
		if !strings.HasPrefix(message(err), want) || (want == "") != (err == nil) {
			t.Errorf("got %v, want %s", err, want)
		}
		if err != nil && (w != 0 || !errors.Is(err, client.ErrRequest)) {
			t.Errorf("%v: %d bytes were written", err, w)
		}
	}
}

type countingWriter int

func (w *countingWriter) Write(b []byte) (int, error) {
	*w += countingWriter(len(b))
	return len(b), nil
}

// Everything that can be said is read as it was written.
func TestConfinementsRoundTrip(t *testing.T) {
	path := rapid.StringMatching(`(/[a-zé ~"\\.<]{1,3}x){1,3}`)
	paths := rapid.SliceOfN(path, 0, 3)
	ports := rapid.SliceOfNDistinct(rapid.Uint16Min(1), 0, 3, rapid.ID)
	hosts := rapid.SliceOfN(rapid.StringMatching(`(\*\.)?[a-z]{1,5}\.example(:[1-9])?`), 0, 3)
	modes := rapid.OneOf(
		rapid.Just[client.NetMode](client.Closed{}),
		rapid.Custom(func(t *rapid.T) client.NetMode {
			return client.Loopback{Ports: ports.Draw(t, "ports"), Dir: path.Draw(t, "dir")}
		}),
		rapid.Custom(func(t *rapid.T) client.NetMode {
			return client.Host{Ports: ports.Draw(t, "ports"), Localhost: rapid.Bool().Draw(t, "localhost")}
		}),
		rapid.Custom(func(t *rapid.T) client.NetMode {
			p := client.Proxy{Upstream: rapid.SampledFrom([]string{"direct", "system", "http://u:p@h.example:1"}).Draw(t, "upstream"), Dir: path.Draw(t, "dir")}
			p.Serve, p.TCP = ports.Draw(t, "serve"), hosts.Draw(t, "tcp")
			if rapid.Bool().Draw(t, "listed") {
				p.Hosts = hosts.Draw(t, "hosts")
			}
			if rapid.Bool().Draw(t, "listens") {
				p.Listen = new(rapid.Uint16().Draw(t, "listen"))
			}
			p.PerMinute = rapid.IntRange(0, math.MaxInt32).Draw(t, "per minute")
			p.LAN, p.NoInternet = rapid.Bool().Draw(t, "lan"), rapid.Bool().Draw(t, "no internet")
			return client.Proxied{Proxy: p, Ports: ports.Draw(t, "ports")}
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		c := client.Confinement{
			Name: rapid.StringMatching(`[a-z][a-z0-9-]{0,8}`).Draw(t, "name"), Write: paths.Draw(t, "write"), Read: paths.Draw(t, "read"), Hide: paths.Draw(t, "hide"),
			ReadHome: rapid.Bool().Draw(t, "home"), Terminal: rapid.Bool().Draw(t, "terminal"), DeveloperTools: rapid.Bool().Draw(t, "tools"),
			Commands: client.AnyCommand(), Net: client.NetOf(modes.Draw(t, "mode")),
		}
		if rapid.Bool().Draw(t, "only") {
			c.Commands = client.OnlyCommands(rapid.SliceOfN(path, 1, 3).Draw(t, "commands")...)
		}
		if rapid.Bool().Draw(t, "dot files") {
			c.WriteDotFiles = c.Write
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var got client.Confinement
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if err := got.Check(); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		again, err := json.Marshal(got)
		if err != nil || string(again) != string(b) {
			t.Fatalf("\n%s\n%s (%v)", b, again, err)
		}
		if got.Net.ModeName() != c.Net.ModeName() || reflect.TypeOf(got.Net.Mode()) != reflect.TypeOf(c.Net.Mode()) {
			t.Fatalf("%T became %T", c.Net.Mode(), got.Net.Mode())
		}
		// Nil and empty are one, but for the hosts.
		if was, is := c.Net.Mode(), got.Net.Mode(); was != nil {
			if was, ok := was.(client.Proxied); ok && (was.Proxy.Hosts == nil) != (is.(client.Proxied).Proxy.Hosts == nil) {
				t.Fatal("no host became any host, or any none")
			}
		}
	})
}

// No refusal of any form repeats a secret, whatever else is wrong with it.
func TestRefusalsHoldNoSecret(t *testing.T) {
	const secret = "hunter2hunter2hunter2"
	form := `{"upstream":"http://u:SECRET@p.example:1","routes":[{"name":"a","secret":{"host":"a.example","header":"A","value":"SECRET","placeholder":"p"}},` +
		`{"name":"m","model":{"provider":"openai","upstream":"https://a.example/SECRET","header":"A","value":"SECRET"}}],"caller":{"sandbox":"w","key":"SECRET"},"url_secret":"SECRET"}`
	form = strings.ReplaceAll(form, "SECRET", secret)
	if _, err := client.ReadProxyBind(strings.NewReader(form)); err != nil {
		t.Fatalf("the form itself: %v", err)
	}
	refused := 0
	check := func(bad string) {
		if _, err := client.ReadProxyBind(strings.NewReader(bad)); err != nil {
			refused++
			for n := 6; n <= len(secret); n++ {
				if strings.Contains(err.Error(), secret[:n]) {
					t.Fatalf("%s\nis refused with %v", bad, err)
				}
			}
		}
	}
	for i := 0; i < len(form); i++ {
		for _, s := range []string{"", " ", "\x00", `\u0000`, "\xff", `\ud800`, `\q`, `"`, "#", "/", "\r\n", "é", "0"} {
			check(form[:i] + s + form[i:])   // put in
			check(form[:i] + s + form[i+1:]) // put instead
		}
		check(form[:i]) // cut off
	}
	if refused < 1000 {
		t.Errorf("%d were refused", refused)
	}
}

func TestCheckUpstream(t *testing.T) {
	for _, s := range strings.Fields("direct system http://p:1 https://p.example:65535 socks5://127.0.0.1:1080 http://[::1]:3128 http://u:p@p:1 http://u:@p:1 socks5://u:p%20w%40@p:1") {
		if err := client.CheckUpstream(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{
		"", "Direct", "none", "p:1", "http:p:1", "http://", "http://p", "http://p:", "http://p:0", "http://p:65536", "http://p:x", "http://:1", "http://p:1/", "http://p:1/x", "http://p:1?x", "http://p:1?", "http://p:1#x", "http://p:1#",
		"http://u@p:1", "http://:p@p:1", "socks4://p:1", "socks5h://p:1", "HTTP//p:1", "http://p:1 ", " http://p:1", "http://p\n:1", "http://u:p\x00@p:1", "http://u:%00@p:1", "http://u:%0a@p:1", "http://%zz:1", "http://[::1:1", "http://u:p@\xff:1",
	} {
		err := client.CheckUpstream(s)
		if err == nil {
			t.Errorf("%q is taken", s)
		} else if !errors.Is(err, client.ErrRequest) || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%q is refused with %q", s, err)
		}
	}
}

// The file of a form's cases is the form's specification: every member of
// every type is in one of them.
func TestEveryMemberHasACase(t *testing.T) {
	for file, types := range map[string][]any{
		"wrap_request": {client.WrapRequest{}, client.Confinement{}, client.Loopback{}, client.Proxied{}, client.Reaching{}, client.Reached{}, client.Host{}, client.Proxy{}, client.Unwalled{}},
		"spec":         {client.Spec{}, client.SpecFiles{}, client.SpecProgram{}, client.SpecNetwork{}, client.SpecLimits{}},
		"run_with":     {client.RunWith{}, client.Secret{}},
		"proxy_bind":   {client.ProxyBind{}},
		"wires":        {client.Wires{}, client.PausedWire{}},
	} {
		b, err := os.ReadFile("testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var written []string
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "-> ") {
				written = append(written, line)
			}
		}
		for _, v := range types {
			for i := range reflect.TypeOf(v).NumField() {
				f := reflect.TypeOf(v).Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if f.IsExported() && !strings.Contains(strings.Join(written, ""), `"`+name+`":`) {
					t.Errorf("%s: no case writes %s of %T", file, name, v)
				}
				if strings.Contains(file, "spec") && f.IsExported() {
					if toml, _, _ := strings.Cut(f.Tag.Get("toml"), ","); toml != name {
						t.Errorf("%T: %s is %q in JSON and %q in TOML", v, f.Name, name, toml)
					}
				}
			}
		}
	}
}
