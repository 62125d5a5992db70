package linuxwall

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

var update = flag.Bool("update", false, "write the golden files anew")

type confinement = client.Confinement

// golden are plans to read: what a confinement comes to on a machine.
var golden = []struct {
	name string
	on   *machine
	net  NetFrom
	c    client.Confinement
}{
	{name: "default", on: made(debian), c: working(nil)},
	{name: "given", on: made(debian), net: Given, c: working(func(c *confinement) {
		c.Net, c.Terminal, c.TmpPrefix = client.Net{}, true, "web-"
	})},
	{name: "machine", on: made(debian + "/etc/resolv.conf -> /run/resolved/stub\n/run/resolved/stub: nameserver 192.0.2.53\n/etc/hosts: 192.0.2.7 build\n"), net: Machine, c: working(func(c *confinement) {
		c.Net = client.NetOf(client.Host{Localhost: true})
	})},
	{
		name: "root",
		on: made(debian+"/etc/shadow !\n/etc/ssl/private/ !\n/etc/sudoers !\n/opt/licences/ !\n/root/.lnk/\n/srv/work/\n").
			as(0, "/root").in("/srv/work"),
		c: working(func(c *confinement) { c.Write = []string{"/srv/work"} }),
	},
	{
		name: "nixos",
		on: made(`
/run/current-system -> /nix/store/abc-system
/nix/store/abc-system/sw/bin/bwrap
/nix/store/abc-system/sw/bin/lnk-sandbox
/nix/var/nix/daemon-socket/socket =
/bin/sh -> /nix/store/abc-system/sw/bin/sh
/usr/bin/env -> /nix/store/abc-system/sw/bin/env
/lib64/ld-linux-x86-64.so.2 -> /nix/store/abc-system/ld
/etc/static -> /nix/store/etc
/nix/store/etc/hosts
/etc/hosts -> /etc/static/hosts
/etc/resolv.conf: nameserver 192.0.2.1
/home/u/work/
/var/run -> /run
`).env("PATH=/run/current-system/sw/bin").runs("/nix/store/abc-system/sw/bin/lnk-sandbox"),
		c: working(nil),
	},
	{
		name: "opensuse",
		on:   made(debian + "/etc/ssl/certs -> ../../var/lib/ca-certificates/pem\n/etc/ssl/ca-bundle.pem -> ../../var/lib/ca-certificates/ca-bundle.pem\n/var/lib/ca-certificates/pem/\n/var/lib/ca-certificates/ca-bundle.pem\n/var/lib/rpm/\n"),
		c:    working(nil),
	},
	{
		name: "data-in-var",
		on: made(debian + "/usr/lib/ghc/package.conf.d -> /var/lib/ghc/package.conf.d\n/var/lib/ghc/package.conf.d/\n/var/lib/texmf/web2c/\n/var/lib/gems/\n/var/lib/mecab/\n" +
			"/usr/lib/aspell/en-common.rws -> /var/lib/aspell/en-common.rws\n/var/lib/aspell/en-common.rws\n/var/lib/ispell/\n/var/cache/dictionaries-common/\n" +
			"/etc/sgml/catalog -> /var/lib/sgml-base/supercatalog\n/var/lib/sgml-base/supercatalog\n/var/lib/ieee-data/\n/var/cache/man/\n/var/cache/fontconfig/\n/var/lib/dpkg/\n/var/cache/apt/\n"),
		c: working(nil),
	},
	{
		name: "guix",
		on: made(`
/gnu/store/abc-bash/bin/sh
/gnu/store/abc-system/profile/bin/bwrap
/gnu/store/abc-system/profile/bin/lnk-sandbox
/gnu/store/abc-hosts
/run/current-system -> /gnu/store/abc-system
/bin/sh -> /gnu/store/abc-bash/bin/sh
/usr/bin/env -> /gnu/store/abc-bash/bin/sh
/etc/hosts -> /gnu/store/abc-hosts
/etc/resolv.conf: nameserver 192.0.2.1
/home/u/work/
/var/run -> /run
`).env("PATH=/run/current-system/profile/bin").runs("/gnu/store/abc-system/profile/bin/lnk-sandbox"),
		c: working(nil),
	},
	{
		name: "unmerged-usr",
		on: made(debian).remove("/bin").remove("/sbin").remove("/lib").remove("/lib64").
			add("/bin/sh\n/sbin/init\n/lib/\n/lib64/\n"),
		c: working(nil),
	},
	{
		name: "image-based",
		on: made(debian).remove("/opt").remove("/home").remove("/usr/local").
			add("/home -> var/home\n/opt -> var/opt\n/usr/local -> ../var/usrlocal\n/var/opt/\n/var/usrlocal/\n/var/home/u/.lnk/\n/var/home/u/work/\n").
			in("/var/home/u/work").env("PWD=/home/u/work"),
		c: working(nil),
	},
	{name: "hide-300", on: hides300(), c: working(func(c *confinement) {
		for i := range 300 {
			c.Hide = append(c.Hide, fmt.Sprintf("/home/u/work/hidden/%03d", i))
		}
	})},
	{name: "write-home", on: made(debian).remove("/home/u/.lnk"), c: working(func(c *confinement) { c.Write = []string{"/home/u"} })},
	{
		name: "read-home",
		on:   made(debian + "/home/u/.ssh/id\n/home/u/.ssh/config\n/home/u/.netrc\n/home/u/notes/\n/home/u/.gnupg/S.gpg-agent =\n"),
		c: working(func(c *confinement) {
			c.ReadHome = true
			c.Read = []string{"/home/u/.ssh/config", "/home/u/notes"}
			c.Hide = []string{"/home/u/.ssh", "/home/u/.netrc", "/home/u/.aws"}
		}),
	},
	{
		name: "nested",
		on:   made(debian + "/home/u/work/a/b/c/d/e/\n/home/u/work/x/y/z\n"),
		c: working(func(c *confinement) {
			c.Write = []string{"/home/u/work/a/b/c/d/e", "/home/u/work"}
			c.Read = []string{"/home/u/work/a/b/c/d"}
			c.Hide = []string{"/home/u/work/a/b", "/home/u/work/x/y/z"}
		}),
	},
	{
		name: "hide-absent",
		on:   made(debian + "/home/u/work/a/\n/home/u/notes/\n"),
		c: working(func(c *confinement) {
			c.Read = []string{"/home/u/notes"}
			c.Hide = []string{"/home/u/work/a/secret", "/home/u/work/b/c/secret", "/home/u/notes/secret", "/home/u/.config/x/secret", "/srv/secret"}
		}),
	},
	{
		name: "links",
		on:   made(debian + "/data/real/\n/data/doc\n/home/u/named -> ../../data/real\n/home/u/sub -> /data\n"),
		c: working(func(c *confinement) {
			c.Write = []string{"/home/u/work", "/home/u/named"}
			c.Read = []string{"/home/u/sub/doc"}
		}),
	},
	{
		name: "dot-files",
		on:   made(debian + "/home/u/work/.git/config\n/home/u/work/.envrc: echo\n/home/u/p/.git/config\n/home/u/q/.idea/\n"),
		c: working(func(c *confinement) {
			c.Write = []string{"/home/u/work", "/home/u/p", "/home/u/q"}
			c.WriteDotFiles = []string{"/home/u/p", "/home/u/q/.idea", "/home/u/q/.envrc"}
		}),
	},
	{
		name: "nested-repositories",
		on: made(debian + `
/home/u/work/.git/config
/home/u/work/sub/.git: gitdir: ../.git/modules/sub
/home/u/work/sub/.vscode/tasks.json
/home/u/work/vendor/lib/.git/config
/home/u/work/mirror.git/HEAD
/home/u/work/mirror.git/objects/
/home/u/work/mirror.git/refs/
/home/u/work/tmp/app.sock =
`),
		c: working(nil),
	},
	{
		name: "git",
		on: made(debian + `
/home/u/work/.git/HEAD
/home/u/work/.git/config
/home/u/work/.git/hooks/
/home/u/work/.git/worktrees/side/commondir: ../..
/home/u/work/.git/worktrees/side/gitdir: /home/u/side/.git
/home/u/work/.git/modules/lib/one/HEAD
/home/u/work/.git/modules/lib/one/config
/home/u/work/.git/modules/lib/one/hooks/
`),
		c: working(func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} }),
	},
	{
		name: "worktree",
		on: made(debian + `
/home/u/main/.git/HEAD
/home/u/main/.git/config
/home/u/main/.git/objects/
/home/u/main/.git/hooks/
/home/u/main/.git/worktrees/w/gitdir: /home/u/work/.git
/home/u/main/.git/worktrees/w/commondir: ../..
/home/u/work/.git: gitdir: /home/u/main/.git/worktrees/w
`),
		c: working(func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} }),
	},
	{
		name: "git-named",
		on: made(debian + `
/home/u/main/.git/HEAD
/home/u/main/.git/config
/home/u/main/.git/hooks/
/home/u/main/.git/modules/
/home/u/work/.git: gitdir: /home/u/main/.git/worktrees/w
`),
		c: working(func(c *confinement) { c.Write = []string{"/home/u/work", "/home/u/main/.git"} }),
	},
	{
		name: "sockets",
		on: made(debian + `
/run/docker.sock =
/home/u/notes/app.sock =
/home/u/work/tmp/db.sock =
/srv/other.sock =
`).add("/run/user/1000/bus =\n"),
		c: working(func(c *confinement) { c.Read = []string{"/home/u/notes", "/run/user/1000"} }),
	},
	{
		name: "developer-tools",
		on: made(debian + `
/home/u/.cargo/credentials.toml
/home/u/.cargo/bin/cargo
/home/u/.rustup/
/home/u/go/pkg/
/home/u/.nix-profile -> /nix/var/nix/profiles/u
/nix/var/nix/profiles/u/
/home/u/.nvm/
`),
		c: working(func(c *confinement) { c.DeveloperTools, c.Hide = true, []string{"/home/u/.nvm"} }),
	},
	{name: "resolv-run", on: made(debian).remove("/etc/resolv.conf").add("/etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf\n/run/systemd/resolve/stub-resolv.conf\n"), c: working(nil)},
	{name: "resolv-dangling", on: made(debian).remove("/etc/resolv.conf").add("/etc/resolv.conf -> /mnt/none/resolv.conf\n"), c: working(nil)},
	{name: "resolv-absent", on: made(debian).remove("/etc/resolv.conf").remove("/etc/hosts"), c: working(nil)},
	{
		name: "ssh-config",
		on: made(debian + `
/etc/ssh/ssh_config: Include /etc/ssh/ssh_config.d/*.conf
/etc/ssh/ssh_config.d/50-site.conf: Include=/etc/crypto/ssh.config
/etc/ssh/ssh_config.d/readme
/etc/crypto/ssh.config: Ciphers aes
/usr/lib/systemd/20-proxy.conf: Host unix
/etc/ssh/ssh_config.d/20-proxy.conf -> ../../../usr/lib/systemd/20-proxy.conf
`),
		c: working(nil),
	},
	{name: "elsewhere", on: made(debian + "/srv/\n").in("/srv"), c: working(nil)},
	{
		name: "whole-machine-read",
		on:   made(debian + "/home/u/.ssh/\n/run/docker.sock =\n/srv/\n").in("/srv"),
		c: working(func(c *confinement) {
			c.Write, c.Read, c.Hide = nil, []string{"/"}, []string{"/home/u/.ssh"}
		}),
	},
	{
		name: "mounted-twice",
		on: made(debian+"/mnt/homes/u/\n").
			add("/proc/self/mountinfo: 2 1 8:2 / /home rw - ext4 /dev/sda2 rw\n/proc/self/mountinfo: 3 1 8:2 / /mnt/homes rw - ext4 /dev/sda2 rw\n").
			same("/mnt/homes/u/.lnk", "/home/u/.lnk"),
		c: working(func(c *confinement) { c.Read = []string{"/mnt/homes"} }),
	},
	{
		name: "program-in-write",
		on:   made(debian + "/home/u/work/bin/lnk-sandbox\n").runs("/home/u/work/bin/lnk-sandbox"),
		c:    working(nil),
	},
	{
		name: "only",
		on: made(debian + `
/usr/bin/dash
/usr/bin/env
/usr/bin/perl
/usr/bin/python3.11
/usr/bin/sh -> dash
/usr/bin/npm: #!/usr/bin/env node
/usr/local/bin/node
/usr/lib/git-core/git
/usr/lib/git-core/git-sh: #!/bin/sh
/usr/lib/git-core/git-p: #!/usr/bin/perl
/usr/lib/git-core/git-add -> ../../bin/git
/usr/lib/python3.11/lib-dynload/ssl.so
/usr/lib/python3.11/tool
/usr/lib/systemd/systemd
/usr/lib/x86_64-linux-gnu/libc.so.6
/usr/lib/x86_64-linux-gnu/helper
/usr/local/lib/node_modules/
/opt/app/bin/app
/opt/app/lib/libapp.so
/home/u/work/own: #!/none/sh
`),
		c: working(func(c *confinement) {
			c.Commands = client.OnlyCommands("/usr/bin/npm", "/bin/python3.11", "/usr/lib/git-core", "/home/u/work/own", "/opt/app/bin/app")
		}),
	},
	{name: "settings-elsewhere", on: made(debian).env("LNK_HOME=/home/u/work/state/lnk"), c: working(nil)},
}

func hides300() *machine {
	m := made(debian)
	for i := range 300 {
		m.add(fmt.Sprintf("/home/u/work/hidden/%03d/\n", i))
	}
	return m
}

// same puts the same thing at a second path, as a mount would.
func (m *machine) same(at, as string) *machine {
	m.put(at, m.nodes[as])
	m.nodes[at] = m.nodes[as]
	return m
}

func (m *machine) runs(program string) *machine {
	m.program = program
	return m
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			if g.net == 0 {
				g.net = Own
			}
			p, err := g.on.planWith(g.c, g.net)
			if err != nil {
				t.Fatal(err)
			}
			got := p.Explain() + "\n" + rendered(p) + ordered(p)
			file := filepath.Join("testdata", "plans", g.name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the plan is another one (-want +got), go test -update writes it:\n%s", diff)
			}
		})
	}
}

// rendered gives bubblewrap's options, those of a step a line; the descriptors
// count from 10.
func rendered(p Plan) string {
	args := p.BwrapArgs(10)
	var b strings.Builder
	for i, a := range args {
		switch {
		case i == 0:
		case strings.HasPrefix(a, "--") && args[i-1] != "--perms" && (i < 2 || args[i-2] != "--perms"):
			b.WriteString("\n")
		default:
			b.WriteString(" ")
		}
		b.WriteString(shown(a))
	}
	return b.String() + "\n"
}

// ordered gives what is done before bubblewrap.
func ordered(p Plan) string {
	if p.Orders == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nnoexec\n")
	for _, place := range p.Orders.Places {
		fmt.Fprintf(&b, "%s %s\n", map[bool]string{true: "code", false: "data"}[place.Code], place.Path)
	}
	for i, e := range p.Orders.Empty {
		fmt.Fprintf(&b, "empty %s/%d %04o\n", p.Orders.Store, i, e.Perm)
	}
	return b.String()
}
