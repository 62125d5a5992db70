package cli

import (
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// The key of a person's environment goes where that person's libraries send it:
// to the provider, or to the host that the environment names.
func TestModelGoesWhereTheEnvironmentSays(t *testing.T) {
	for name := range providers {
		t.Setenv(providers[name].base, "")
		t.Setenv(providers[name].variable, "sk-of-somebody-0123456789")
	}
	upstream := func(of string) string {
		t.Helper()
		all, err := modelFlags{of: []string{of}}.models()
		if err != nil {
			return err.Error()
		}
		return all[0].Kind.(route.Model).Upstream
	}
	for name, p := range providers {
		if got := (route.Route{Name: "m", Kind: route.Model{Provider: name}}).Variables(); len(got) != 1 || got[0] != p.base {
			t.Errorf("%s: its program finds it at %v, not at %s", name, got, p.base)
		}
		if got := upstream(name); got != p.upstream {
			t.Errorf("%s: %s", name, got)
		}
		t.Setenv(p.base, "https://gateway.example/v1/")
		if got := upstream(name); got != "https://gateway.example/v1" {
			t.Errorf("%s: %s", name, got)
		}
		if got := upstream(name + "=https://named.example"); got != "https://named.example" {
			t.Errorf("%s, named: %s", name, got)
		}
		t.Setenv(p.base, "http://gateway.example/v1")
		if got := upstream(name); !strings.Contains(got, p.base+" of your environment") || !strings.Contains(got, "--model "+name+"=<base address>") {
			t.Errorf("%s, in plain text: %s", name, got)
		}
		t.Setenv(p.base, "")
	}
}
