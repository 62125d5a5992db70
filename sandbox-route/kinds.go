package route

// Kind is one of [Tool], [LocalModel], [Open], [Secret], [Model] and [Bridge].
type Kind interface{ kind() string }

// Tool is a program of this machine that runs outside the sandbox, once a
// call, its input, output, errors and exit status carried. The program finds
// it at LNK_TOOL_<NAME>, and by its name on its PATH.
type Tool struct {
	_ [0]func()

	// Argv is its command line, Argv[0] absolute; a call's words follow it.
	Argv []string `json:"argv"`
	// Ask is whether a person is asked before a call.
	Ask Ask `json:"ask"`
	// Allow names calls that are never asked about: see [Tool.Asks].
	Allow [][]string `json:"allow"`
}

// Ask is which calls of a [Tool] a person is asked about.
type Ask string

const (
	// AskAll asks before each call but those that Allow names.
	AskAll Ask = "all"
	// AskNone never asks.
	AskNone Ask = "none"
)

// LocalModel is a model server on this machine's loopback, its address in
// LNK_LOCAL_MODEL_<PORT>.
type LocalModel struct {
	// Port is where it listens, 1 to 65535.
	Port uint16 `json:"port"`
}

// Open opens an http or https address in this machine's browser. Its address
// is in LNK_SANDBOX_OPEN, and BROWSER names a command that calls it.
type Open struct{}

// Secret is one https host, towards which the proxy replaces a placeholder by
// a value that the program never has.
type Secret struct {
	_ [0]func()

	// Host is the host, port 443 unless one is named (host:port).
	Host string `json:"host"`
	// Header is the header that may hold the placeholder; else Query is.
	Header string `json:"header,omitempty"`
	// Query is the member of the address's query that may hold it.
	Query string `json:"query,omitempty"`
	// Value is the secret: printable ASCII.
	Value string `json:"value"`
	// Placeholder stands for it inside: printable ASCII, and nothing
	// that holds the value.
	// It is empty in what lnk sandbox run is handed, which makes one.
	Placeholder string `json:"placeholder,omitempty"`
	// Paths are the host's paths that may be called: one that ends in a slash
	// is all under it, another itself. Nil is any; empty is none.
	Paths []string `json:"paths,omitzero"`
}

// Model is a model API whose key is added outside and whose tokens are
// counted.
type Model struct {
	_ [0]func()

	// Provider says whose form the API has: "anthropic", "google" or "openai".
	// Another's API of one of these forms goes by that name.
	Provider string `json:"provider"`
	// Upstream is its base address, https:// or, on this machine's loopback,
	// http://, with no user, query or fragment.
	Upstream string `json:"upstream"`
	// Header is the header that is set to Value, whatever the program sent in it.
	Header string `json:"header"`
	// Value is the header's value with the key in it ("Bearer …"). It is a secret.
	Value string `json:"value"`
}

// Bridge is what another plugin serves on a unix socket.
type Bridge struct {
	// Socket is the socket's absolute path, at most 107 bytes.
	Socket string `json:"socket"`
}

func (Tool) kind() string       { return "tool" }
func (LocalModel) kind() string { return "local_model" }
func (Open) kind() string       { return "open" }
func (Secret) kind() string     { return "secret" }
func (Model) kind() string      { return "model" }
func (Bridge) kind() string     { return "bridge" }

// baseVariable is each provider's own variable for the base address of its
// API, as its command-line program and libraries read it.
var baseVariable = map[string]string{
	"anthropic": "ANTHROPIC_BASE_URL",
	"google":    "GOOGLE_GEMINI_BASE_URL",
	"openai":    "OPENAI_BASE_URL",
}
