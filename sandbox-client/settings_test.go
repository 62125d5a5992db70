package client_test

import (
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

func TestSettings(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ lnk, home, want string }{
		{"", "/home/ann", "/home/ann/.lnk"},
		{"", "/home/ann/", "/home/ann/.lnk"},
		{"/data/lnk/", "/home/ann", "/data/lnk"},
		{"/data/../lnk", "", "/lnk"},
		{"rel", "/home/ann", ""},
		{"/data\nlnk", "/home/ann", ""},
		{"", "rel", ""},
		{"", "", filepath.Join(me.HomeDir, ".lnk")},
	} {
		t.Setenv(client.HomeVariable, c.lnk)
		t.Setenv("HOME", c.home)
		got, err := client.Settings()
		if string(got) != c.want || (c.want == "") != (err != nil) {
			t.Errorf("LNK_HOME %q, HOME %q: %q (%v), want %q", c.lnk, c.home, got, err, c.want)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%q is not one line", err)
		}
	}
}

func TestSettingsPaths(t *testing.T) {
	s := client.SettingsFolder("/s")
	fixed := map[string]string{
		s.Sandbox(): "/s/sandbox", s.Tools(): "/s/sandbox/tools", s.OnStops(): "/s/sandbox/on-stop", s.Stopped(): "/s/sandbox/wires/stopped",
		s.PausedFolder(): "/s/sandbox/wires/paused", s.TrafficFolder(): "/s/sandbox/traffic", s.Ready(): "/s/sandbox/ready.json",
	}
	for got, want := range fixed {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	named := map[string]func(string) (string, error){
		"/s/sandbox/web-r4nd.sb":       func(n string) (string, error) { return s.Profile(n, "r4nd") },
		"/s/sandbox/web.routes.json":   s.Routes,
		"/s/sandbox/web.url-secret":    s.URLSecret,
		"/s/sandbox/web.upstream":      s.Upstream,
		"/s/sandbox/tools/web.json":    s.Tool,
		"/s/sandbox/on-stop/web.json":  s.OnStop,
		"/s/sandbox/wires/paused/web":  s.Paused,
		"/s/sandbox/log/web.jsonl":     s.Log,
		"/s/sandbox/traffic/7-9x.json": func(n string) (string, error) { return s.Traffic(len(n)+4, "9x") },
	}
	for want, path := range named {
		if got, err := path("web"); got != want || err != nil {
			t.Errorf("%s (%v), want %s", got, err, want)
		}
		if strings.Contains(want, "traffic") {
			continue
		}
		for _, bad := range []string{"", "..", "../x", "a/b", ".a", "a\x00", "a\n"} {
			if got, err := path(bad); err == nil {
				t.Errorf("%q leads to %s", bad, got)
			}
		}
	}
	if got, err := s.Profile("web", "../x"); err == nil {
		t.Errorf("a profile at %s", got)
	}
	for pid, start := range map[int]string{0: "1", -1: "1", 7: "", 8: "a/b", 9: "..", 10: "a-b"} {
		if got, err := s.Traffic(pid, start); err == nil {
			t.Errorf("process %d, start %q: %s", pid, start, got)
		}
	}
	if filepath.Dir(s.Stopped()) != filepath.Dir(s.PausedFolder()) {
		t.Error("the wires' flags are in two places")
	}
}
