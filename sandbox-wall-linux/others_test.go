package linuxwall

import (
	"slices"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// etcOfRoot is a machine's configuration with files of root's in it.
const etcOfRoot = debian + `
/etc/shadow !
/etc/ssl/private/ !
/etc/ssl/private/key !
/etc/ssl/private/cert
/etc/ssl/ca
/etc/tool
/etc/ssh/ssh_config: Include /etc/ssh/ssh_config.d/*.conf
/etc/ssh/ssh_config.d/all.conf: Compression no
/etc/ssh/ssh_config.d/own.conf !
/etc/ssh/ssh_config.d/own.conf: SecretName x
/root/.lnk/
/srv/work/
/srv/etc -> /etc
`

// Where the machine can show its configuration as others see it, nothing of it
// is covered; what is named in it is opened, or closed, as where it is.
func TestOthers(t *testing.T) {
	const shadow, private, key, cert = "/etc/shadow", "/etc/ssl/private", "/etc/ssl/private/key", "/etc/ssl/private/cert"
	for _, c := range []struct {
		name  string
		by    Maker
		uid   int
		can   []string
		c     func(*client.Confinement)
		steps string // those in /etc but for names, others marked
		open  []string
	}{
		{"nothing named", Kernel, 0, []string{"/etc"}, nil, "read* /etc", nil},
		{"all is read", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Read = []string{"/"} }, "read* /etc", nil},
		{"it is read", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Read = []string{"/etc"} }, "read* /etc", nil},
		{"a part of it is read", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Read = []string{"/etc/ssl"} }, "read* /etc", nil},
		{"a closed folder is read", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Read = []string{private} }, "read* /etc, read " + private, []string{key, cert}},
		{"a closed file is read", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Read = []string{shadow} }, "read* /etc, read " + shadow, []string{shadow}},
		{"one in a closed folder is read", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Read = []string{cert} }, "read* /etc, close " + private + ", read " + cert, []string{cert}},
		{"a closed one in a closed folder is read", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Read = []string{key} }, "read* /etc, close " + private + ", read " + key, []string{key}},
		{"one in a closed folder is hidden", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Hide = []string{cert} }, "read* /etc, close " + private, nil},
		{"one that all may read is hidden", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Hide = []string{"/etc/ssl/ca"} }, "read* /etc, close /etc/ssl/ca", nil},
		{"it is written by another name", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Write = append(c.Write, "/srv/etc/ssl") }, "read /etc, close /etc/shadow, close /etc/ssh/ssh_config.d/own.conf, write /etc/ssl, close /etc/ssl/.envrc, close /etc/ssl/.git, close /etc/ssl/.idea, close /etc/ssl/.vscode, close " + private, nil},
		{"a program of it is named", Kernel, 0, []string{"/etc"}, func(c *confinement) { c.Commands = client.OnlyCommands("/etc/tool") }, "read /etc, close /etc/shadow, close /etc/ssh/ssh_config.d/own.conf, close " + private, nil},
		{"it cannot be shown so", Kernel, 0, nil, nil, "read /etc, close /etc/shadow, close /etc/ssh/ssh_config.d/own.conf, close " + private, nil},
		{"bubblewrap cannot", Bubblewrap, 0, []string{"/etc"}, nil, "read /etc, close /etc/shadow, close /etc/ssh/ssh_config.d/own.conf, close " + private, nil},
		{"a user's", Kernel, 1000, []string{"/etc"}, nil, "read /etc", []string{shadow, key, cert}}, // as far as he may
	} {
		m := made(etcOfRoot).as(c.uid, "/root").in("/srv/work")
		m.others = c.can
		p, err := m.planBy(c.by, working(func(w *confinement) {
			w.Write = []string{"/srv/work"}
			if c.c != nil {
				c.c(w)
			}
		}), Own)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var steps []string
		for _, s := range p.Steps {
			if within(s.At, "/etc") && s.Verb != Tell && s.Verb != Seal {
				steps = append(steps, s.Verb.String()+map[bool]string{true: "* ", false: " "}[s.Others]+s.At)
			}
		}
		if got := strings.Join(steps, ", "); got != c.steps {
			t.Errorf("%s: %s, want %s", c.name, got, c.steps)
		}
		for _, at := range []string{shadow, key, cert, "/etc/passwd"} {
			got, err := p.Lookup(m.system(), at)
			open := slices.Contains(c.open, at) || at == "/etc/passwd"
			if err != nil || (got.Access == ReadOnly || got.Access == ReadWrite) != open || !open && got.Access != Closed {
				t.Errorf("%s: %s is %s, %v", c.name, at, got.Access, err)
			}
		}
	}
}

// One that others may not go into, as a strict umask leaves it, is shown as it is:
// nothing in it could be covered, or told, otherwise.
func TestOthersMayNotGoThere(t *testing.T) {
	m := made(etcOfRoot).as(0, "/root").in("/srv/work")
	m.others = []string{"/etc"}
	n := m.nodes["/etc"]
	n.Mode = 0o750
	m.nodes["/etc"] = n
	p, err := m.planBy(Kernel, working(func(c *confinement) { c.Write = []string{"/srv/work"} }), Own)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Others }) {
		t.Errorf("it is:\n%s", p.Explain())
	}
	if got, err := p.Lookup(m.system(), "/etc/shadow"); err != nil || got.Access != Closed {
		t.Errorf("/etc/shadow is %s, %v", got.Access, err)
	}
}

// A folder that is found to hold nothing of root's is shown as it is.
func TestOthersOfASecondFolder(t *testing.T) {
	for lines, want := range map[string]bool{"/usr/local/etc/x\n": false, "/usr/local/etc/x !\n": true} {
		m := made(debian+"/root/.lnk/\n/srv/work/\n"+lines).as(0, "/root").in("/srv/work")
		m.others = []string{"/etc", "/usr/local/etc"}
		p, err := m.planBy(Kernel, working(func(c *confinement) { c.Write = []string{"/srv/work"} }), Own)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.At == "/usr/local/etc" && s.Others })
		covered := slices.ContainsFunc(p.covers(), func(s Step) bool { return s.At == "/usr/local/etc" })
		if got != want || covered != want || slices.ContainsFunc(p.Steps, func(s Step) bool { return s.At == "/usr/local/etc/x" }) {
			t.Errorf("%q: shown as others see it %v, a cover %v, want %v", lines, got, covered, want)
		}
	}
}

// Shown as others see it, what ssh's configuration includes is nobody's, and ssh
// gets copies: not of what only root may read.
func TestOthersGetCopiesForSSH(t *testing.T) {
	for _, others := range [][]string{nil, {"/etc"}} {
		m := made(etcOfRoot).as(0, "/root").in("/srv/work")
		m.others = others
		p, err := m.planBy(Kernel, working(func(c *confinement) { c.Write = []string{"/srv/work"} }), Own)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, s := range p.Steps {
			if s.Verb == Tell && within(s.At, "/etc/ssh") {
				told = append(told, s.At+": "+s.Text)
			}
		}
		want := ""
		if others != nil {
			want = "/etc/ssh/ssh_config.d/all.conf: Compression no\n"
		}
		if got := strings.Join(told, ""); got != want {
			t.Errorf("%q: told are %q, want %q", others, got, want)
		}
	}
}
