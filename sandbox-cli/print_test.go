package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// The environment under run holds the kept variables and what the chain adds.
func TestScrubbed(t *testing.T) {
	got := scrubbed(
		[]string{"PATH=/bin", "LC_TIME=C", "TOKEN=x", "PATHS=x", "lc_all=x", "HOME=/h", "broken", "TMPDIR=/outside"},
		map[string]string{"TMPDIR": "/tmp", "HTTPS_PROXY": "http://127.0.0.1:1"},
	)
	want := []string{"HOME=/h", "HTTPS_PROXY=http://127.0.0.1:1", "LC_TIME=C", "PATH=/bin", "TMPDIR=/tmp"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Certificates are kept where the program can read them, and nowhere else.
func TestScrubbedTrust(t *testing.T) {
	for value, want := range map[string]bool{
		"/etc/ssl/own.pem": true, "/usr/share/ca": true, "/etc": true, "/etc/ssl/a:/usr/b": true, "/project/ca.pem": true, "/project": true,
		"/home/u/ca.pem": false, "/etcetera/x": false, "/projects/ca.pem": false, "/etc/../home/u/ca.pem": false, "ca.pem": false, "": false, "/etc/ssl/a:/home/u": false, "/etc/a:": false,
	} {
		for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO"} {
			if got := scrubbed([]string{name + "=" + value}, nil, "/project/"); (len(got) == 1) != want {
				t.Errorf("%s=%s: got %q", name, value, got)
			}
		}
	}
	if got := scrubbed([]string{"SSL_CERT_FILE=/etc/a"}, map[string]string{"SSL_CERT_FILE": "/b"}); !slices.Equal(got, []string{"SSL_CERT_FILE=/b"}) {
		t.Errorf("what is set over it: %q", got)
	}
}

func TestHostAsked(t *testing.T) {
	for in, want := range map[string]string{
		"a.test": "a.test 443", "a.test:22": "a.test 22", "http://a.test/x": "a.test 80",
		"https://a.test:8443": "a.test 8443", "ssh://git@a.test": "a.test 22", "[::1]:80": "::1 80",
		"ftp://a.test": "a.test 21", "wss://a.test/x": "a.test 443", "postgres://u:p@a.test/db": "a.test 5432", "odd://a.test:9": "a.test 9",
		"git@a.test:o/r.git": "a.test 22", "git@a.test:/o/r.git": "a.test 22", "git@a.test:7a": "a.test 22", "git@a.test:7": "a.test 7", "u@a.test": "a.test 443", "u:p@a.test": "a.test 443",
	} {
		host, port, err := hostAsked(in)
		if got := strings.TrimSpace(host + " " + itoa(port)); err != nil || got != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "https://", "a.test:0", "a.test:99999", "http://%zz", "odd://a.test", "a@b@c:d", "a.test:080"} {
		if _, _, err := hostAsked(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// A path is told from a host by how it begins, by what is there, and by how it
// goes on.
func TestPathAsked(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", home)
	for _, name := range []string{"main.c", "there"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for ask, want := range map[string]string{
		"/a/../b": "/b", ".": dir, "..": filepath.Dir(dir), "./a": dir + "/a", "../a": filepath.Dir(dir) + "/a", "~": home, "~/a": home + "/a",
		".git/config": dir + "/.git/config", ".envrc": dir + "/.envrc", "main.c": dir + "/main.c", "there": dir + "/there", "src/main.c": dir + "/src/main.c", "src/": dir + "/src",
		"": "", "a.test": "", "a.test/x": "", "localhost/x": "", "db:5432/x": "", "db": "", "http://there": "", "git@a.test:o/r": "", "[::1]:80/x": "", "u@host/x": "",
	} {
		if got, is := pathAsked(ask); got != want || is != (want != "") {
			t.Errorf("%q: %q, %v, want %q", ask, got, is, want)
		}
	}
}

// A teller tells each call once, at once or at the end, and counts what is past
// its bound.
func TestTeller(t *testing.T) {
	var out strings.Builder
	now := newTeller(&out, proxyFlags{Tell: true})
	now.tell("a.test:443", "not among the hosts", judge.Open{Flag: "--internet-host a.test"})
	now.tell("a.test:443", "not among the hosts", judge.Open{Flag: "--internet-host a.test"})
	if want := "lnk sandbox run: refused a.test:443: not among the hosts; to open it: --internet-host a.test\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
	out.Reset()
	for _, why := range []string{"no Host", "no Host", "SOCKS4"} { // of no host: each kind once
		now.tell("", why, judge.Open{})
	}
	if want := "lnk sandbox run: refused a request: no Host\nlnk sandbox run: refused a request: SOCKS4\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
	out.Reset()
	late := newTeller(&out, proxyFlags{Tell: true, Terminal: true})
	for i := range maxTold + 3 {
		late.tell(itoa(uint16(i)), "why", judge.Open{})
	}
	if out.Len() != 0 {
		t.Error("told while the program has the terminal")
	}
	late.end()
	if n := strings.Count(out.String(), "\n"); n != maxTold+1 || !strings.Contains(out.String(), "at least 3 more") {
		t.Errorf("told %d lines: %s", n, out.String())
	}
}

func itoa(n uint16) string { return strconv.Itoa(int(n)) }

// A shell in a home folder that is not in view is none: the system's stands in
// for it. Any other stays as it is.
func TestWithShell(t *testing.T) {
	const own = "/home/u/.nix-profile/bin/zsh"
	for _, c := range []struct {
		shell, want string
		c           client.Confinement
	}{
		{own, "/bin/sh", client.Confinement{}},
		{own, "/bin/sh", client.Confinement{Read: []string{"/home/u/notes"}, Write: []string{"/home/u/work"}}},
		{own, own, client.Confinement{ReadHome: true}},
		{own, own, client.Confinement{DeveloperTools: true}},
		{own, own, client.Confinement{Read: []string{"/home/u/.nix-profile"}}},
		{"/home/u/work/sh", "/home/u/work/sh", client.Confinement{Write: []string{"/home/u/work"}}},
		{"/usr/bin/zsh", "/usr/bin/zsh", client.Confinement{}},
		{"/home/user/zsh", "/home/user/zsh", client.Confinement{}},
		{"", "", client.Confinement{}},
	} {
		env := []string{"HOME=/home/u", "SHELL=" + c.shell, "TERM=x"}
		if got := withShell(env, c.c, "/home/u"); !slices.Equal(got, []string{"HOME=/home/u", "SHELL=" + c.want, "TERM=x"}) || env[1] != "SHELL="+c.shell {
			t.Errorf("%s of %+v: %q", c.shell, c.c, got)
		}
	}
	for _, home := range []string{"/", "/usr"} { // as services have it
		if got := withShell([]string{"SHELL=/usr/bin/zsh"}, client.Confinement{}, home); got[0] != "SHELL=/usr/bin/zsh" {
			t.Errorf("home %s: %q", home, got)
		}
	}
	if got := withShell([]string{"TERM=x"}, client.Confinement{}, "/home/u"); !slices.Equal(got, []string{"TERM=x"}) {
		t.Errorf("none: %q", got)
	}
}

// What names certificates that are not in view is told where there is a network
// to need it, with what passes it on.
func TestNotTrusted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	told := "SSL_CERT_FILE is not passed on: " + file + " is not in view; to pass it on: --read " + file
	proxied, closed := client.NetOf(client.Proxied{}), client.NetOf(client.Closed{})
	for _, c := range []struct {
		net  client.Net
		read string
		env  string
		add  map[string]string
		want string
	}{
		{proxied, "/srv", "SSL_CERT_FILE=" + file, nil, told},
		{closed, "/srv", "SSL_CERT_FILE=" + file, nil, ""},
		{proxied, filepath.Dir(file), "SSL_CERT_FILE=" + file, nil, ""},
		{proxied, "/srv", "SSL_CERT_FILE=" + file + ".none", nil, ""},
		{proxied, "/srv", "SSL_CERT_FILE=", nil, ""},
		{proxied, "/srv", "SSL_CERT_FILE=ca.pem", nil, ""},
		{proxied, "/srv", "SSL_KEY_FILE=" + file, nil, ""},
		{proxied, "/srv", "SSL_CERT_FILE=" + file, map[string]string{"SSL_CERT_FILE": "/px/ca.pem"}, ""},
	} {
		got := notTrusted(client.Confinement{Net: c.net, Read: []string{c.read}}, []string{c.env}, c.add)
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s, read %s, %s: %q", c.env, c.read, modeName(c.net.Mode()), got)
		}
	}
}
