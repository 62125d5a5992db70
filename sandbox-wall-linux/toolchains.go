package linuxwall

import "slices"

// A toolchain is a folder of the home in which developers' tools keep
// programs, or "/" and a path where it is always elsewhere.
type toolchain struct {
	dir string
	// secrets are names in it that hold credentials: they stay closed.
	secrets []string
}

// toolchains are what developer_tools opens to read, where it is there. A
// folder that holds a tool's own settings as well is named by the parts that
// hold programs. Where each tool keeps what is in its manual; the files with
// credentials are those that its login command writes.
var toolchains = []toolchain{
	{".asdf", nil},
	{".bun", nil},
	{".cabal/bin", nil},
	{".cabal/packages", nil},
	{".cabal/store", nil},
	{".cargo", []string{"credentials", "credentials.toml"}},
	{".deno", nil},
	{".dotnet", []string{"corefx"}}, // X.509 stores with private keys
	{".elan", nil},
	{".fnm", nil},
	{".ghcup", nil},
	{".goenv", nil},
	{".jenv", nil},
	{".juliaup", nil},
	{".linuxbrew", nil},
	{".local/bin", nil},
	{".local/pipx", nil},
	{".local/share/fnm", nil},
	{".local/share/mise", nil},
	{".local/share/pipx", nil},
	{".local/share/pnpm", nil},
	{".local/share/rtx", nil},
	{".local/share/uv", []string{"credentials"}},
	{".local/state/nix/profiles", nil},
	{".nix-profile", nil},
	{".nodenv", nil},
	{".nvm", []string{".npmrc"}},
	{".opam", nil},
	{".pyenv", nil},
	{".rbenv", nil},
	{".rustup", nil},
	{".rvm", nil},
	{".sdkman", nil},
	{".swiftly", nil},
	{".volta", nil},
	{"go", nil},
	{"sdk", nil}, // golang.org/dl
	{"/home/linuxbrew/.linuxbrew", nil},
}

// developerTools opens them to read. It only ever opens: in what another
// member opens it changes nothing, and in what one hides it does nothing.
func (d *draft) developerTools() error {
	if !d.c.DeveloperTools {
		return nil
	}
	for _, chain := range slices.Concat(toolchains, d.f.toolchains) {
		at := chain.dir
		if at[0] != '/' {
			if d.f.Home == "" {
				continue
			}
			at = join(d.f.Home, chain.dir)
		}
		r := d.t.resolve(at)
		if r.node.Kind != Folder || linkedIn(r.links, d.writes) != "" || d.t.anyEarlier(r.links) {
			continue
		}
		switch g := d.above(r.real); {
		case g.kind.host():
			d.follow(r.links)
			continue
		case g.kind == shut || g.kind == procFS || g.kind == devFS:
			continue
		}
		d.follow(r.links)
		because := Reason{Member: "developer_tools", Text: "a toolchain"}
		d.add(place{at: r.real, kind: readOnly, rank: rankTools, node: r.node, because: because})
		for _, name := range chain.secrets {
			secret := d.t.resolve(join(r.real, name))
			if secret.missing != "" {
				continue
			}
			because.Text = "a tool's credentials"
			d.add(place{at: secret.real, kind: shut, rank: rankTools, node: secret.node, because: because})
		}
	}
	return nil
}
