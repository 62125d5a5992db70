package linuxwall

import "testing"

func TestDeveloperTools(t *testing.T) {
	const home = `
/home/u/.cargo/credentials.toml
/home/u/.cargo/bin/cargo
/home/u/.rustup/
/home/u/go -> work/go
/home/u/work/go/
/home/u/.nvm/
/home/u/keys/uv
/home/u/.local/share/uv/credentials -> /home/u/keys/uv
/home/linuxbrew/.linuxbrew/bin/
`
	tools := func(change func(*confinement)) func(*confinement) {
		return func(c *confinement) {
			c.DeveloperTools = true
			if change != nil {
				change(c)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*confinement)
		want   map[string]Verb
	}{
		{"opened", tools(nil), map[string]Verb{
			"/home/u/.cargo": Read, "/home/u/.cargo/credentials.toml": CloseFile, "/home/u/.cargo/credentials": 0,
			"/home/u/.rustup": Read, "/home/u/.nvm": Read, "/home/linuxbrew/.linuxbrew": Read, "/home/u/.pyenv": 0,
			"/home/u/work/go": 0, "/home/u/go": MakeLink,
		}},
		{"not asked for", nil, map[string]Verb{"/home/u/.cargo": 0, "/home/u/.rustup": 0}},
		{"hidden", tools(func(c *confinement) { c.Hide = []string{"/home/u/.nvm", "/home/u/.cargo/bin"} }), map[string]Verb{
			"/home/u/.nvm": Close, "/home/u/.cargo": Read, "/home/u/.cargo/bin": Close,
		}},
		{"all hidden", tools(func(c *confinement) {
			c.Hide = []string{"/home/u/.cargo", "/home"}
			c.Read = []string{"/home/u/.rustup"}
		}), map[string]Verb{
			"/home": 0, "/home/u/.cargo": 0, "/home/u/.nvm": 0, "/home/u/.rustup": Read,
		}},
		// They only open: of a home that is written they narrow nothing.
		{"home written", tools(func(c *confinement) { c.Write = []string{"/home/u"} }), map[string]Verb{
			"/home/u": Write, "/home/u/.cargo": 0, "/home/u/.cargo/credentials.toml": 0, "/home/u/.rustup": 0,
		}},
		{"home read", tools(func(c *confinement) { c.ReadHome = true }), map[string]Verb{
			"/home/u": Read, "/home/u/.cargo": 0, "/home/u/.cargo/credentials.toml": 0,
		}},
		{"credentials kept elsewhere", tools(func(c *confinement) { c.Write = []string{"/home/u/work", "/home/u/keys"} }), map[string]Verb{
			"/home/u/.rustup": Read, "/home/u/keys/uv": 0,
		}},
		{"credentials named", tools(func(c *confinement) { c.Read = []string{"/home/u/.cargo/credentials.toml"} }), map[string]Verb{
			"/home/u/.cargo": Read, "/home/u/.cargo/credentials.toml": 0,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := made(debian+home).mustPlan(t, working(c.change))
			for at, want := range c.want {
				if got := verbAt(p, at); got != want {
					t.Errorf("%s: %s, want %s\n%s", at, verbName(got), verbName(want), p.Explain())
				}
			}
		})
	}
}

// A toolchain by a link that the program could have put there is not opened.
func TestDeveloperToolsPlanted(t *testing.T) {
	p := made(debian+"/home/u/.ssh/id\n/home/u/work/state/.rustup -> ../../.ssh\n/home/u/.rustup -> work/state/.rustup\n").
		mustPlan(t, working(func(c *confinement) { c.DeveloperTools = true }))
	if got := verbAt(p, "/home/u/.ssh"); got != 0 {
		t.Errorf("%s\n%s", verbName(got), p.Explain())
	}
}

// Every tool that is promised is found where it lives, and nothing else of the
// home is opened.
func TestEachToolchain(t *testing.T) {
	for where, want := range map[string]string{
		"/home/u/.cargo/bin/cargo":                            "/home/u/.cargo",
		"/home/u/.rustup/toolchains/stable/bin/rustc":         "/home/u/.rustup",
		"/home/u/go/bin/gopls":                                "/home/u/go",
		"/home/u/sdk/go1.26.0/bin/go":                         "/home/u/sdk",
		"/home/u/.nvm/versions/node/v24/bin/node":             "/home/u/.nvm",
		"/home/u/.pyenv/versions/3.14/bin/python":             "/home/u/.pyenv",
		"/home/u/.local/share/mise/installs/node/24/bin/node": "/home/u/.local/share/mise",
		"/home/u/.local/bin/mise":                             "/home/u/.local/bin",
		"/home/u/.asdf/installs/x/1/bin/x":                    "/home/u/.asdf",
		"/home/linuxbrew/.linuxbrew/bin/brew":                 "/home/linuxbrew/.linuxbrew",
		"/home/u/.linuxbrew/bin/brew":                         "/home/u/.linuxbrew",
		"/nix/store/abc/bin/x":                                "/nix",
	} {
		m := made(debian + where + "\n/home/u/.ssh/id\n/home/u/notes\n/home/u/.config/x\n")
		p := m.mustPlan(t, working(func(c *confinement) { c.DeveloperTools = true }))
		if got, _ := p.Lookup(m.system(), where); got.Access != ReadOnly {
			t.Errorf("%s: %v", where, got.Access)
		}
		for _, s := range p.Steps {
			if s.binds() && below(s.At, "/home") && s.At != want && !within(s.At, "/home/u/work") {
				t.Errorf("%s: opens %s", where, s.At)
			}
		}
		for _, closed := range []string{"/home/u/.ssh/id", "/home/u/notes", "/home/u/.config/x"} {
			if got, _ := p.Lookup(m.system(), closed); got.Access != Absent {
				t.Errorf("%s: %s is %v", where, closed, got.Access)
			}
		}
	}
}

// A toolchain that was moved is found by its variable, if it is one and lies in
// the home.
func TestMovedToolchains(t *testing.T) {
	const moved = `
/home/u/t/cargo/bin/cargo
/home/u/t/cargo/credentials.toml
/home/u/t/rustup/toolchains/
/home/u/t/go/pkg/mod/
/home/u/t/go2/bin/
/home/u/t/nvm/nvm.sh
/home/u/documents/letter
/srv/cargo/bin/cargo
`
	m := made(debian+moved).env("CARGO_HOME=/home/u/t/cargo", "RUSTUP_HOME=/home/u/t/rustup", "GOPATH=/home/u/t/go:/home/u/t/go2:",
		"NVM_DIR=/home/u/t/nvm/", "PYENV_ROOT=/home/u/documents", "MISE_DATA_DIR=t", "ASDF_DATA_DIR=/home/u", "VOLTA_HOME=/srv/cargo")
	for _, on := range []bool{true, false} {
		p := m.mustPlan(t, working(func(c *confinement) { c.DeveloperTools = on }))
		for path, open := range map[string]bool{
			"/home/u/t/cargo/bin/cargo": on, "/home/u/t/rustup/toolchains": on, "/home/u/t/go/pkg/mod": on, "/home/u/t/go2/bin": on,
			"/home/u/t/nvm/nvm.sh": on, "/home/u/documents/letter": false, "/srv/cargo/bin/cargo": false,
			"/home/u/t/cargo/credentials.toml": false,
		} {
			if got, _ := p.Lookup(m.system(), path); (got.Access == ReadOnly) != open {
				t.Errorf("on %v: %s: %v", on, path, got.Access)
			}
		}
	}
}
