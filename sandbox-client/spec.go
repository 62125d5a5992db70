package client

import (
	"io"
	"math"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Spec is what a person or a plugin keeps of a sandbox: TOML in a file, or the
// same names in JSON inside other settings. [Of] makes the [Confinement] of it.
// Everything is optional but, when Of is called, Name.
//
// TOML is read by the library of one's choice into a tree, which
// [SpecFromTree] judges as strictly as [ReadSpecJSON] judges JSON. A library
// that fills a Spec by its toml tags must be told to refuse unknown keys.
type Spec struct {
	_ [0]func()

	// Name is the sandbox's name, a name of the contract.
	Name string `json:"name,omitempty" toml:"name,omitempty"`
	// Files is what of the file system the program touches.
	Files SpecFiles `json:"files,omitempty" toml:"files,omitempty"`
	// Program is what it may execute, and how.
	Program SpecProgram `json:"program,omitempty" toml:"program,omitempty"`
	// Network is what it reaches; by default nothing.
	Network SpecNetwork `json:"network,omitempty" toml:"network,omitempty"`
	// Limits is what it may use of the machine; by default all.
	Limits SpecLimits `json:"limits,omitempty" toml:"limits,omitempty"`
}

// SpecFiles are files and folders. A path is absolute, under ~/, or relative
// to the spec's own folder.
type SpecFiles struct {
	_ [0]func()

	// Write is read and written.
	Write []string `json:"write,omitempty" toml:"write,omitempty"`
	// WriteDotFiles are those of Write where .git, .envrc, .vscode and .idea
	// may be written too, or one such file's own path.
	WriteDotFiles []string `json:"write_dot_files,omitempty" toml:"write_dot_files,omitempty"`
	// Read is read only.
	Read []string `json:"read,omitempty" toml:"read,omitempty"`
	// ReadHome opens the whole home folder to read, but for the settings and
	// for what holds credentials (see [Credentials]).
	ReadHome bool `json:"read_home,omitzero" toml:"read_home,omitempty"`
	// Hide is closed whatever else says, but for what Write and Read name in it.
	Hide []string `json:"hide,omitempty" toml:"hide,omitempty"`
	// TmpPrefix starts the name of the program's temporary folder.
	TmpPrefix string `json:"tmp_prefix,omitempty" toml:"tmp_prefix,omitempty"`
}

// SpecProgram is what the program may do besides.
type SpecProgram struct {
	_ [0]func()

	// Commands is what may be executed; nil is anything.
	Commands *Commands `json:"commands,omitzero" toml:"commands,omitempty"`
	// DeveloperTools opens toolchains kept in the home folder and lets the
	// sandbox's processes trace each other.
	DeveloperTools bool `json:"developer_tools,omitzero" toml:"developer_tools,omitempty"`
	// Terminal lets it keep the terminal it is started on.
	Terminal bool `json:"terminal,omitzero" toml:"terminal,omitempty"`
}

// SpecNetwork is what the program reaches. Only Ports goes with every mode but
// closed; Localhost is for host, the rest for proxied.
type SpecNetwork struct {
	_ [0]func()

	// Mode is "closed", "loopback", "proxied" or "host"; empty is closed.
	Mode string `json:"mode,omitempty" toml:"mode,omitempty"`
	// Hosts are the hosts reached. Nil is any host of the internet; empty is none.
	Hosts []string `json:"hosts,omitzero" toml:"hosts"`
	// TCP are host:port or address:port reached with any protocol.
	TCP []string `json:"tcp,omitempty" toml:"tcp,omitempty"`
	// LAN reaches addresses that are not the internet's.
	LAN bool `json:"lan,omitzero" toml:"lan,omitempty"`
	// NoInternet leaves tools, local models, Ports and Serve alone.
	NoInternet bool `json:"no_internet,omitzero" toml:"no_internet,omitempty"`
	// PerMinute bounds new calls a minute, 1 or more; nil is no bound.
	PerMinute *int `json:"per_minute,omitzero" toml:"per_minute,omitempty"`
	// Ports are ports of this machine's loopback that are reached.
	Ports []uint16 `json:"ports,omitempty" toml:"ports,omitempty"`
	// Serve are the sandbox's ports that are served on this machine's loopback.
	Serve []uint16 `json:"serve,omitempty" toml:"serve,omitempty"`
	// Upstream is as a [Proxy]'s; empty is direct.
	Upstream string `json:"upstream,omitempty" toml:"upstream,omitempty"`
	// Tools are the names of tools that run outside.
	Tools []string `json:"tools,omitempty" toml:"tools,omitempty"`
	// LocalModels are the ports of model servers on this machine's loopback.
	LocalModels []uint16 `json:"local_models,omitempty" toml:"local_models,omitempty"`
	// Open lets it open http and https addresses in this machine's browser.
	Open bool `json:"open,omitzero" toml:"open,omitempty"`
	// Localhost opens this machine's loopback and its own addresses, with host.
	Localhost bool `json:"localhost,omitzero" toml:"localhost,omitempty"`
}

// ReadSpecJSON reads and judges a spec's JSON. What it refuses is a
// [*SpecError], which names the key: "network.hots: unknown".
func ReadSpecJSON(r io.Reader) (Spec, error) {
	s, err := read(r, specShape)
	return s, specError(err)
}

// WriteSpecJSON judges a spec and writes its JSON.
func WriteSpecJSON(w io.Writer, s Spec) error { return specError(write(w, s)) }

func specShape(s *Spec) form.Shape {
	return form.Object(
		form.Optional("name", form.String(&s.Name)),
		form.Optional("files", specFilesShape(&s.Files)),
		form.Optional("program", form.Object(
			form.Optional("commands", form.New(&s.Program.Commands, commandsShape)),
			form.Optional("developer_tools", form.Bool(&s.Program.DeveloperTools)),
			form.Optional("terminal", form.Bool(&s.Program.Terminal)),
		)),
		form.Optional("network", specNetworkShape(&s.Network)),
		form.Optional("limits", specLimitsShape(&s.Limits)),
	)
}

func specFilesShape(f *SpecFiles) form.Shape {
	return form.Object(
		form.Optional("write", form.Strings(&f.Write)),
		form.Optional("write_dot_files", form.Strings(&f.WriteDotFiles)),
		form.Optional("read", form.Strings(&f.Read)),
		form.Optional("read_home", form.Bool(&f.ReadHome)),
		form.Optional("hide", form.Strings(&f.Hide)),
		form.Optional("tmp_prefix", form.String(&f.TmpPrefix)),
	)
}

func specNetworkShape(n *SpecNetwork) form.Shape {
	perMinute := func(p *int) form.Shape { return form.Whole(p, 1, math.MaxInt32) }
	return form.Object(
		form.Optional("mode", form.String(&n.Mode)),
		form.Optional("hosts", form.Strings(&n.Hosts)),
		form.Optional("tcp", form.Strings(&n.TCP)),
		form.Optional("lan", form.Bool(&n.LAN)),
		form.Optional("no_internet", form.Bool(&n.NoInternet)),
		form.Optional("per_minute", form.New(&n.PerMinute, perMinute)),
		form.Optional("ports", form.Ports(&n.Ports)),
		form.Optional("serve", form.Ports(&n.Serve)),
		form.Optional("upstream", form.String(&n.Upstream)),
		form.Optional("tools", form.Strings(&n.Tools)),
		form.Optional("local_models", form.Ports(&n.LocalModels)),
		form.Optional("open", form.Bool(&n.Open)),
		form.Optional("localhost", form.Bool(&n.Localhost)),
	)
}
