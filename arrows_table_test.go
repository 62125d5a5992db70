package root_test

// A reason is something that a module may import, and why it does.
type reason struct{ path, why string }

// A house is a module and what it may import: siblings by their folder, other
// modules by their path. Nothing else of ours, and nothing else of others.
type house struct {
	folder   string
	siblings []reason
	others   []reason // in what is shipped
	inTests  []reason // in test files only
	through  []reason // not imported by us, but by what we import
	tagged   bool     // it is released: a version, a changelog
}

// The test libraries, each for what the standard library does not do.
var (
	cmp        = reason{"github.com/google/go-cmp", "differences of two values, readable"}
	leak       = reason{"go.uber.org/goleak", "a goroutine that outlives its test is a wire that outlives its sandbox"}
	rapid      = reason{"pgregory.net/rapid", "properties over made values, shrunk to the smallest that fails"}
	testscript = reason{"github.com/rogpeppe/go-internal", "testscript: the command line's specification is its scripts"}
	pty        = reason{"github.com/creack/pty", "a terminal for the tests of what happens on one"}
)

// What is shipped and used by several.
var (
	strictJSON = reason{"github.com/go-json-experiment/json", "strict, case-sensitive JSON with pointers in its errors: encoding/json takes \"WRITE\" for \"write\" and two members of one name, so that who checks and who enforces could differ"}
	xsys       = reason{"golang.org/x/sys", "system calls and constants that package syscall lacks"}
)

// Why a module knows a sibling.
const (
	whatIsConfined = "what a confinement is"
	whatIsRouted   = "what a route is, and which can be mounted together"
	whatIsCounted  = "what was carried, as lnk measure reads it"
)

// houses is every module of the workspace. An arrow that is not here fails the
// test: it is drawn with a reason or not at all.
var houses = []house{
	{
		folder: "measure-contract", tagged: true,
		others:  []reason{strictJSON},
		inTests: []reason{cmp, rapid},
	},
	{
		folder: "sandbox-route", tagged: true,
		others:  []reason{strictJSON, {"golang.org/x/net", "idna: a host of a route in its normal form"}},
		inTests: []reason{cmp, rapid},
		through: []reason{{"golang.org/x/text", "the tables of idna"}},
	},
	{
		folder: "sandbox-client", tagged: true,
		siblings: []reason{{"sandbox-route", whatIsRouted}, {"measure-contract", whatIsCounted}},
		others:   []reason{strictJSON},
		inTests:  []reason{cmp, rapid, leak},
		through: []reason{
			{"golang.org/x/net", "idna, of sandbox-route"},
			{"golang.org/x/text", "the tables of idna"},
		},
	},
	{
		folder: "sandbox-proxy", tagged: true,
		siblings: []reason{{"sandbox-client", whatIsConfined}, {"sandbox-route", whatIsRouted}, {"measure-contract", whatIsCounted}},
		others: []reason{
			strictJSON,
			xsys,
			{"github.com/armon/go-socks5", "SOCKS5, with our resolver, rules and dialer"},
			{"github.com/fsnotify/fsnotify", "the flags that stop a wire are watched"},
			{"github.com/google/nftables", "the rules of the sandbox's network, without the nft command"},
			{"github.com/miekg/dns", "the messages of DNS"},
			{"golang.org/x/net", "idna: one normaliser of names"},
			{"golang.org/x/sync", "errgroup: parts that end together"},
			{"golang.org/x/time", "rate: calls a minute"},
		},
		inTests: []reason{cmp, leak, rapid},
		through: []reason{
			{"github.com/mdlayher/netlink", "of nftables"},
			{"github.com/mdlayher/socket", "of nftables"},
			{"golang.org/x/text", "the tables of idna"},
			{"golang.org/x/tools", "of dns"},
		},
	},
	{
		folder: "sandbox-wall-linux", tagged: true,
		siblings: []reason{{"sandbox-client", whatIsConfined}},
		others: []reason{
			strictJSON,
			xsys,
			{"golang.org/x/net", "bpf: the filter of system calls, assembled"},
		},
		inTests: []reason{cmp, rapid, leak, pty},
		through: []reason{{"golang.org/x/text", "the tables of idna, of sandbox-route"}},
	},
	{
		folder: "sandbox-wall-darwin", tagged: true,
		siblings: []reason{{"sandbox-client", whatIsConfined}},
		others:   []reason{xsys},
		inTests:  []reason{cmp, rapid},
	},
	{
		// A probe that shares code with what it tries shares its mistakes.
		folder: "probes", tagged: true,
		siblings: []reason{{"sandbox-client", whatIsConfined}},
		others:   []reason{xsys},
		inTests:  []reason{cmp},
		through:  []reason{{"github.com/go-json-experiment/json", "strict JSON, of sandbox-client"}, {"golang.org/x/text", "the tables of idna, of sandbox-route"}},
	},
	{
		folder: "sandbox-cli", tagged: true,
		siblings: []reason{
			{"sandbox-client", whatIsConfined},
			{"sandbox-route", whatIsRouted},
			{"measure-contract", whatIsCounted},
			{"sandbox-proxy", "the command line composes: its stages proxy and proxy-inside"},
			{"sandbox-wall-linux", "the command line composes: its stages wall and inside"},
			{"sandbox-wall-darwin", "the command line composes: its stage wall on macOS"},
			{"probes", "the command line composes: check"},
		},
		others: []reason{
			strictJSON,
			xsys,
			{"github.com/pelletier/go-toml/v2", "specs are TOML; the contract modules only carry the tags"},
			{"github.com/spf13/cobra", "the commands that people type; no stage loads it"},
			{"github.com/spf13/pflag", "the flags of cobra, for the stages that do not load it"},
			{"golang.org/x/term", "is this a terminal; read one answer from it"},
		},
		inTests: []reason{cmp, leak, rapid, testscript, pty, {"github.com/miekg/dns", "the name server of the tests' small internet"}, {"golang.org/x/net", "websocket: a server of the tests' small internet"}},
		through: []reason{
			{"github.com/armon/go-socks5", "of sandbox-proxy"},
			{"github.com/fsnotify/fsnotify", "of sandbox-proxy"},
			{"github.com/google/nftables", "of sandbox-proxy"},
			{"github.com/inconshreveable/mousetrap", "of cobra"},
			{"github.com/mdlayher/netlink", "of nftables"},
			{"github.com/mdlayher/socket", "of nftables"},
			{"github.com/miekg/dns", "of sandbox-proxy"},
			{"golang.org/x/net", "of sandbox-proxy and sandbox-wall-linux"},
			{"golang.org/x/sync", "of sandbox-proxy"},
			{"golang.org/x/text", "the tables of idna"},
			{"golang.org/x/time", "of sandbox-proxy"},
			{"golang.org/x/tools", "of testscript and dns"},
		},
	},
	// Never tagged, and nothing imports them: the standard library is enough.
	{folder: "."},
	{folder: "scripts"},
	{folder: "scripts/tools"},
}
