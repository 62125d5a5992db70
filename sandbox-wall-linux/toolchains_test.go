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
