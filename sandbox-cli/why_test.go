package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// Case, a trailing dot and punycode make no difference, in a rule and in a call,
// given as a flag and in a spec; who is asked is shown one form.
func TestRuleInAnyForm(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	spec := filepath.Join(t.TempDir(), "sandbox.toml")
	for rule, call := range map[string]string{
		"Allowed.EXAMPLE":       "https://allowed.example",
		"allowed.example.":      "ALLOWED.example",
		"*.Allowed.Example.":    "a.allowed.example",
		"B\u00fccher.example":   "xn--bcher-kva.example",
		"XN--BCHER-KVA.EXAMPLE": "b\u00fccher.example",
		"[2A00:1450::7]":        "https://[2a00:1450::7]",
	} {
		if err := os.WriteFile(spec, []byte("[network]\nmode = \"proxied\"\nhosts = [\""+rule+"\"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, flags := range [][]string{{"--internet-host", rule}, {"--spec", spec}} {
			var out, said bytes.Buffer
			if status := runCommand(Streams{Out: &out, Err: &said}, append(append([]string{"why"}, flags...), call)); status != 0 {
				t.Errorf("%q %s: status %d: %s%s", flags, call, status, out.String(), said.String())
			}
		}
	}
	p := client.Proxied{Proxy: client.Proxy{Hosts: []string{"g\u0456thub.com", "GitHub.com"}, TCP: []string{"DB.Example:22"}}}
	if got, want := reached(p), "xn--gthub-n2e.com, github.com, db.example:22"; got != want {
		t.Errorf("shown: %s, want %s", got, want)
	}
}

// What why says opens a call does: given as it is said, why says that it is
// open. What nothing opens is not told a way.
func TestWhatWhySaysOpens(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	ask := func(flags []string, what string) (status int, line string) {
		t.Helper()
		var out, said bytes.Buffer
		status = runCommand(Streams{Out: &out, Err: &said}, append(append([]string{"why"}, flags...), what))
		if said.Len() > 0 || strings.Count(out.String(), "\n") != 1 {
			t.Fatalf("%q %s: out %q, errors %q", flags, what, out.String(), said.String())
		}
		return status, strings.TrimSpace(out.String())
	}
	for _, c := range []struct{ flags, what, opens string }{
		{"", "https://db.example/x", "--internet-host db.example"},
		{"", "http://db.example", "--internet-host db.example"},
		{"", "db.example", "--internet-host db.example"},
		{"", "db.example:5432", "--tcp db.example:5432"},
		{"", "ssh://git@db.example/x", "--tcp db.example:22"},
		{"", "10.1.2.3", "--tcp 10.1.2.3:443"},
		{"", "127.0.0.1:5432", "--port 5432"},
		{"", "http://localhost:8080", "--port 8080"},
		{"", "https://[2a00:1450::7]/", "--internet-host [2a00:1450::7]"},
		{"", "[2a00:1450::7]:25", "--tcp [2a00:1450::7]:25"},
		{"", "https://Bücher.example.", "--internet-host xn--bcher-kva.example"},
		{"--internet-host allowed.example", "db.example", "--internet-host db.example"},
		{"--internet-host allowed.example", "allowed.example:8443", "--tcp allowed.example:8443"},
		{"--internet-host *.allowed.example", "allowed.example", "--internet-host allowed.example"},
		{"--internet-host allowed.example", "fd00::7", ""}, // an address in no brackets is no URL
		{"--internet-host allowed.example", "[fd00::7]:443", "--tcp [fd00::7]:443"},
		{"--port 80", "127.0.0.1:81", "--port 81"},
		{"", "169.254.169.254", ""},
		{"--internet-host allowed.example", "http://metadata.google.internal", ""},
	} {
		flags := strings.Fields(c.flags)
		if c.what == "fd00::7" {
			var out, said bytes.Buffer
			if status := runCommand(Streams{Out: &out, Err: &said}, append(append([]string{"why"}, flags...), c.what)); status != 2 {
				t.Errorf("%s: status %d, %q, %q", c.what, status, out.String(), said.String())
			}
			continue
		}
		status, line := ask(flags, c.what)
		_, opens, _ := strings.Cut(line, "; to open it: ")
		if status != 1 || opens != c.opens {
			t.Errorf("%q %s: status %d: %s", c.flags, c.what, status, line)
			continue
		}
		if opens == "" {
			continue
		}
		if status, line := ask(append(flags, strings.Fields(opens)...), c.what); status != 0 || !strings.HasPrefix(line, "open ") {
			t.Errorf("%q %s: what opens it, %s, does not: %s", c.flags, c.what, opens, line)
		}
	}
}
