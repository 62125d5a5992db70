package client

// A Confinement says what a program may touch. [Wrap] takes one; plugins make
// it from a [Spec] with [Of]. It says nothing of what runs, where, or with
// which environment: that stays its caller's.
type Confinement struct {
	_ [0]func()

	// Name names the sandbox in logs, traffic and file names:
	// 1 to 64 of A-Z a-z 0-9 . _ - , the first a letter or digit, no "..".
	Name string `json:"name"`
	// Write names files and folders to read and write, each absolute and clean.
	Write []string `json:"write"`
	// WriteDotFiles names those of Write at whose top .git, .envrc, .vscode
	// and .idea may be written too, or one dot file's own path (<dir>/.git).
	WriteDotFiles []string `json:"write_dot_files,omitempty"`
	// Read names files and folders to read.
	Read []string `json:"read"`
	// ReadHome opens the user's home folder to read.
	ReadHome bool `json:"read_home,omitempty"`
	// Hide names files and folders that are closed, but for what Write and
	// Read name in them.
	Hide []string `json:"hide,omitempty"`
	// TmpPrefix starts the name of the program's temporary folder.
	TmpPrefix string `json:"tmp_prefix,omitempty"`
	// Terminal lets the program keep the terminal it is started on.
	Terminal bool `json:"terminal,omitempty"`
	// Commands says what may be executed. It has no default.
	Commands Commands `json:"commands"`
	// DeveloperTools opens toolchains kept in the home folder and lets the
	// sandbox's processes trace each other.
	DeveloperTools bool `json:"developer_tools,omitempty"`
	// Net is the network. It has no default.
	Net Net `json:"net"`
}

// Commands says what may be executed: anything, or only what is named.
// The zero value is neither and is refused.
type Commands struct {
	any  bool
	only []string
}

// AnyCommand lets every program in view be executed.
func AnyCommand() Commands { return Commands{any: true} }

// OnlyCommands lets the files named, and the files in the folders named, be executed.
func OnlyCommands(paths ...string) Commands { return Commands{only: append([]string{}, paths...)} }

// Only gives the paths that may be executed; restricted is false when anything may.
func (c Commands) Only() (paths []string, restricted bool) { return c.only, c.only != nil }

// Net holds exactly one network mode, never two. The zero value holds none and is refused.
type Net struct{ mode NetMode }

// NetMode is one of [Closed], [Loopback], [Proxied], [Reaching] and [Host].
type NetMode interface{ netMode() string }

// NetOf makes the Net that holds one mode.
func NetOf(m NetMode) Net { return Net{mode: m} }

// Mode gives the mode held, or nil for the zero Net.
func (n Net) Mode() NetMode { return n.mode }

// Closed is no network but an empty loopback of the sandbox's own.
type Closed struct{}

// Loopback reaches ports of this machine's loopback and nothing else.
type Loopback struct {
	// Ports are 1 to 65535, each once, reached inside at 127.0.0.1 and ::1.
	Ports []uint16 `json:"ports"`
	// Dir is the folder of the relay's sockets (Linux).
	Dir string `json:"dir"`
}

// Proxied has one way out, the proxy.
type Proxied struct {
	Proxy Proxy `json:"proxy"`
	// Ports are ports of this machine's loopback, as in [Loopback].
	Ports []uint16 `json:"ports"`
}

// Reaching has proxies that others run as its only ways out (Linux).
type Reaching struct {
	Reached []Reached `json:"reached"`
	Ports   []uint16  `json:"ports"`
}

// Reached is one proxy that a [Reaching] sandbox calls.
type Reached struct {
	// Dir is the folder of the proxy's sockets.
	Dir string `json:"dir"`
	// Port is where it is reached inside, 1 to 65535.
	Port uint16 `json:"port"`
}

// Host is the machine's own network.
type Host struct {
	// Ports are the ports of loopback that stay open when Localhost is false.
	Ports []uint16 `json:"ports"`
	// Localhost opens this machine's loopback and its own addresses.
	Localhost bool `json:"localhost"`
}

func (Closed) netMode() string   { return "closed" }
func (Loopback) netMode() string { return "loopback" }
func (Proxied) netMode() string  { return "proxied" }
func (Reaching) netMode() string { return "reaching" }
func (Host) netMode() string     { return "host" }
