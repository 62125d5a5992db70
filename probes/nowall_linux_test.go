package probes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

func TestMain(m *testing.M) {
	Executed()
	os.Exit(m.Run())
}

// here makes a world of its own for a check: a home, settings, a project.
func here(t *testing.T) (c client.Confinement, o *Outside, home string) {
	t.Helper()
	root := t.TempDir()
	home = filepath.Join(root, "home")
	project := filepath.Join(root, "project")
	for _, dir := range []string{filepath.Join(home, ".lnk", "sandbox"), filepath.Join(project, ".vscode"), filepath.Join(root, "notes"), filepath.Join(root, "hidden", "full")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c = client.Confinement{
		Name: "web", Write: []string{project}, Read: []string{filepath.Join(root, "notes")}, Hide: []string{filepath.Join(root, "hidden"), filepath.Join(project, "none"), filepath.Join(project, ".vscode", "a")},
		Commands: client.OnlyCommands("/bin/sh"), Net: client.NetOf(client.Closed{}),
	}
	o = Start(c, home, filepath.Join(home, ".lnk"))
	t.Cleanup(o.Close)
	return c, o, home
}

// A probe that cannot see an open door is worth nothing: with no wall each gets
// through, but for what this user may do nowhere.
func TestEveryProbeGetsThroughWithNoWall(t *testing.T) {
	c, o, _ := here(t)
	// What only root may do, or what this kernel or its owner refuses everybody.
	mayFail := map[string]bool{
		"write in /usr": true, "write in /etc": true, "open a disk": true, "mount a file system": true, "load a BPF program": true,
		"open a raw socket": true, "open a packet socket": true, "watch events of the processor": true, "make an io_uring": true,
		"open a vsock socket": true, "make a user namespace": true, "add a key to a keyring": true,
	}
	if os.Getuid() == 0 {
		for _, name := range []string{"write in /etc", "mount a file system", "open a raw socket", "open a packet socket", "make a user namespace"} {
			delete(mayFail, name)
		}
	}
	got := map[Word]int{}
	for _, p := range For(c, o) {
		l := p.Judge(Try(p.Attempt))
		got[l.Word]++
		switch l.Word {
		case Leaked, Allowed:
		case Blocked:
			if !mayFail[p.Name] {
				t.Errorf("it cannot see an open door: %s", l)
			}
		case Missed:
			if !mayFail[p.Name] && !strings.Contains(p.Name, "metadata") && !strings.Contains(p.Name, "own address") && !strings.Contains(p.Name, "UDP") {
				t.Errorf("nothing was tried: %s", l)
			}
		default:
			t.Errorf("%s", l)
		}
	}
	if got[Leaked] < 18 {
		t.Errorf("only %d leaked of a sandbox that closes everything: %v", got[Leaked], got)
	}
}

// What a check made is gone with it, and what it tried is as it was.
func TestNothingStaysBehind(t *testing.T) {
	root := t.TempDir()
	list := func() string {
		var all []string
		filepath.WalkDir(root, func(path string, _ os.DirEntry, _ error) error { all = append(all, path); return nil })
		return strings.Join(all, "\n")
	}
	for _, dir := range []string{"home/.lnk/sandbox", "project/.git"} {
		os.MkdirAll(filepath.Join(root, dir), 0o755)
	}
	os.WriteFile(filepath.Join(root, "project", ".envrc"), []byte("x"), 0o644)
	before := list()
	c := client.Confinement{Name: "web", Write: []string{filepath.Join(root, "project")}, Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{})}
	o := Start(c, filepath.Join(root, "home"), filepath.Join(root, "home", ".lnk"))
	if list() == before {
		t.Error("nothing was laid out")
	}
	for _, p := range For(c, o) {
		if p.Missing == "" {
			Try(p.Attempt)
		}
	}
	o.Close()
	if after := list(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if b, _ := os.ReadFile(filepath.Join(root, "project", ".envrc")); string(b) != "x" {
		t.Errorf("a file was changed: %q", b)
	}
}

// What a confinement says of each probe.
func TestWants(t *testing.T) {
	c, o, home := here(t)
	wants := func(c client.Confinement, name string) Want {
		t.Helper()
		for _, p := range For(c, o) {
			if p.Name == name {
				return p.Want
			}
		}
		t.Errorf("no probe is called %q", name)
		return 255
	}
	project, notes := c.Write[0], c.Read[0]
	for name, want := range map[string]Want{
		"write " + project: Opens, "read " + notes: Opens, "write " + notes: Closes, "hide " + c.Hide[0]: Closes,
		"move " + project: Closes, "move " + project + "/.vscode": Closes,
		"write " + project + "/.git": Closes, "write " + project + "/.vscode": Closes, "read a file in the home folder": Closes,
		"execute a program that it made": Closes, "trace a process of its own": Closes, "call an abstract socket": Closes,
	} {
		if got := wants(c, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	more := c
	more.ReadHome, more.DeveloperTools, more.Commands = true, true, client.AnyCommand()
	more.WriteDotFiles = []string{project + "/.vscode", project + "/.git", project + "/.envrc"}
	more.Net = client.NetOf(client.Host{Localhost: true})
	for name, want := range map[string]Want{
		"read a file in the home folder": Opens, "write a file in the home folder": Closes, "read a file of lnk's settings": Closes,
		"execute a program that it made": Opens, "trace a process of its own": Opens,
		"write " + project + "/.vscode": Opens, "write " + project + "/.envrc": Opens, "write " + project + "/.idea": Closes, "write " + project + "/.git": Closes, // it is not there
		"call this machine's own address": Leaves, "send a UDP packet to this machine": Leaves,
	} {
		if got := wants(more, name); got != want {
			t.Errorf("more, %s: %v, want %v", name, got, want)
		}
	}
	more.Write, more.Hide = []string{home}, []string{home + "/closed"}
	more.Net = client.NetOf(client.Proxied{Ports: []uint16{5432}, Proxy: client.Proxy{Hosts: []string{"a.example", "*.b.example", "[2001:db8::1]", "c.example:8443"}, TCP: []string{"d.example:22"}}})
	for name, want := range map[string]Want{
		"write a file in the home folder": Opens, "read a file of lnk's settings": Closes, "call port 5432 of this machine's loopback": Opens,
		"call a.example:443": Opens, "call c.example:8443": Opens, "call [2001:db8::1]:443": Opens, "call d.example:22": Opens,
		"ask the proxy for a host that is not named": Closes, "ask the proxy for this machine's loopback": Closes,
	} {
		if got := wants(more, name); got != want {
			t.Errorf("proxied, %s: %v, want %v", name, got, want)
		}
	}
}
