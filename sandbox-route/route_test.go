package route_test

import (
	stdjson "encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestWhereARouteIsMounted(t *testing.T) {
	const secret = "0123456789abcdef"
	for _, c := range []struct {
		route route.Route
		path  string
		vars  []string
	}{
		{route.Route{Name: "gh-x.y", Kind: route.Tool{}}, "/tool/gh-x.y/", []string{"LNK_TOOL_GH_X_Y"}},
		{route.Route{Name: "gh", NeedsSecret: true, Env: []string{"GH", "LNK_TOOL_GH", "GH"}, Kind: route.Tool{}}, "/" + secret + "/tool/gh/", []string{"LNK_TOOL_GH", "GH"}},
		{route.Route{Name: "m", Kind: route.LocalModel{Port: 11434}}, "/local_model/m/", []string{"LNK_LOCAL_MODEL_11434"}},
		{route.Route{Name: "open", Kind: route.Open{}}, "/open/open/", []string{"LNK_SANDBOX_OPEN"}},
		{route.Route{Name: "api", Env: []string{"API"}, Kind: route.Secret{}}, "/" + secret + "/secret/api/", []string{"API"}},
		{route.Route{Name: "c", Kind: route.Model{Provider: "anthropic"}}, "/model/c/", []string{"ANTHROPIC_BASE_URL"}},
		{route.Route{Name: "c", Kind: route.Model{Provider: "google"}}, "/model/c/", []string{"GOOGLE_GEMINI_BASE_URL"}},
		{route.Route{Name: "c", Kind: route.Model{Provider: "openai"}}, "/model/c/", []string{"OPENAI_BASE_URL"}},
		{route.Route{Name: "mail", Kind: route.Bridge{}}, "/bridge/mail/", nil},
	} {
		if got := c.route.Path(secret); got != c.path {
			t.Errorf("%s is mounted at %q, want %q", c.route.KindName(), got, c.path)
		}
		if got := c.route.Variables(); !slices.Equal(got, c.vars) {
			t.Errorf("%s sets %q, want %q", c.route.KindName(), got, c.vars)
		}
	}
}

// Whichever package a program uses, a route is read strictly and written right.
func TestRouteWithAnyJSON(t *testing.T) {
	const good = `{"name":"x","env":["URL"],"secret":{"host":"a.example","header":"A","value":"v1","placeholder":"p1"}}`
	for _, p := range []struct {
		name      string
		unmarshal func([]byte, any) error
		marshal   func(any) ([]byte, error)
	}{
		{"encoding/json", stdjson.Unmarshal, stdjson.Marshal},
		{"go-json-experiment", func(b []byte, v any) error { return json.Unmarshal(b, v) }, func(v any) ([]byte, error) { return json.Marshal(v) }},
	} {
		var r route.Route
		if err := p.unmarshal([]byte(good), &r); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if b, err := p.marshal(r); err != nil || string(b) != good {
			t.Errorf("%s wrote %s (%v)", p.name, b, err)
		}
		before := r
		for _, bad := range []string{
			`{"name":"x","open":{},"Open":{}}`, `{"name":"x","open":{},"open":{}}`, `{"NAME":"x","open":{}}`, `{"name":"x"}`, `{"name":"x","open":{},"env":null}`,
		} {
			if err := p.unmarshal([]byte(bad), &r); err == nil {
				t.Errorf("%s reads %s", p.name, bad)
			}
		}
		if !reflect.DeepEqual(before, r) {
			t.Errorf("%s: a refused route changed what it was read into", p.name)
		}
		if b, err := p.marshal(route.Route{Name: "x"}); err == nil {
			t.Errorf("%s wrote a route of no kind: %s", p.name, b)
		}
	}
}

func TestNothingInvalidIsWritten(t *testing.T) {
	bad := route.Mounts{Caller: route.Caller{Sandbox: "web", Key: "k"}, Routes: []route.Route{bridge("a", "relative")}}
	var w countingWriter
	if err := route.WriteMounts(&w, bad); err == nil || w != 0 {
		t.Errorf("wrote %d bytes (%v)", w, err)
	}
	if err := route.WriteNamedTool(&w, route.NamedTool{Name: "gh"}); err == nil || w != 0 {
		t.Errorf("wrote %d bytes (%v)", w, err)
	}
}

type countingWriter int

func (w *countingWriter) Write(b []byte) (int, error) {
	*w += countingWriter(len(b))
	return len(b), nil
}

func TestURL(t *testing.T) {
	r := route.Route{Name: "m", Kind: route.LocalModel{Port: 11434}}
	if got := r.URL(0, "secret"); got != "http://127.0.0.1:0/local_model/m" {
		t.Error(got)
	}
	r.NeedsSecret = true
	if got := r.URL(19190, "secret"); got != "http://127.0.0.1:19190/secret/local_model/m" {
		t.Error(got)
	}
}
