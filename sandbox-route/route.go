package route

import (
	"strconv"
	"strings"
)

// Route is one way out beside the network: the proxy mounts it at
// /<kind>/<name>/ of its own address and, when it needs the URL secret, only
// at /<url secret>/<kind>/<name>/, so any HTTP client reaches it.
//
// Its JSON is {"name", "secret"?, "env"?, <one kind>}. The member "secret" has
// two meanings, told apart by what it holds: true or false is the flag
// NeedsSecret; an object is the kind [Secret], which always needs the URL
// secret, so that it never has to carry the flag too.
//
// The wrap reads it for the environment, the proxy for what it mounts.
type Route struct {
	_ [0]func()

	// Name is the route's, a name of the contract, once for its kind.
	Name string
	// NeedsSecret mounts it under the URL secret only. A [Secret] route is
	// mounted so whatever this says.
	NeedsSecret bool
	// Env names variables that hold the route's address, beside those its kind
	// sets anyway: see [Route.Variables].
	Env []string
	// Kind is what it is. Nil is refused.
	Kind Kind
}

// Caller is what the proxy tells a bridge of who calls, as the headers
// Lnk-Caller and Lnk-Caller-Key, which it takes out of what the program sent.
// The proxy and bridges read it; the program never sees it.
type Caller struct {
	// Sandbox is the sandbox's name.
	Sandbox string `json:"sandbox"`
	// Key proves it to the bridge: 1 to 256 printable ASCII characters. It is a secret.
	Key string `json:"key"`
}

// UnderSecret says whether the route is mounted under the URL secret only.
func (r Route) UnderSecret() bool {
	_, is := r.Kind.(Secret)
	return is || r.NeedsSecret
}

// Path is where the route is mounted on the proxy's address, "/tool/gh/" or
// "/<urlSecret>/secret/gh/". It ends in a slash.
func (r Route) Path(urlSecret string) string {
	p := "/" + r.KindName() + "/" + r.Name + "/"
	if r.UnderSecret() {
		return "/" + urlSecret + p
	}
	return p
}

// URL is the route's address on a proxy that is called at that port of
// 127.0.0.1, with no slash at its end: what its variables hold.
func (r Route) URL(port uint16, urlSecret string) string {
	return "http://127.0.0.1:" + strconv.Itoa(int(port)) + strings.TrimSuffix(r.Path(urlSecret), "/")
}

// KindName is the member that holds the kind: "tool", "local_model", "open",
// "secret", "model" or "bridge"; empty for none.
func (r Route) KindName() string {
	if r.Kind == nil {
		return ""
	}
	return r.Kind.kind()
}

// Variables gives every variable that holds the route's address: those of its
// kind first, then those of Env that are not among them. An [Open] route sets
// BROWSER too, to the command that calls it: see [BrowserVariable].
func (r Route) Variables() []string {
	vars := r.own()
	for _, v := range r.Env {
		if !contains(vars, v) {
			vars = append(vars, v)
		}
	}
	return vars
}

// own gives the variables that the kind sets to the address by itself.
func (r Route) own() []string {
	switch k := r.Kind.(type) {
	case Tool:
		return []string{ToolVariable(r.Name)}
	case LocalModel:
		return []string{"LNK_LOCAL_MODEL_" + strconv.Itoa(int(k.Port))}
	case Open:
		return []string{"LNK_SANDBOX_OPEN"}
	case Model:
		if v, known := baseVariable[k.Provider]; known {
			return []string{v}
		}
	}
	return nil
}

// BrowserVariable is the variable that an [Open] route sets beside its
// address: the command that opens an address with it.
const BrowserVariable = "BROWSER"

// ToolVariable is the variable with a tool's address: LNK_TOOL_ and its name in
// upper case, an underscore for what is neither letter nor digit.
func ToolVariable(name string) string {
	return "LNK_TOOL_" + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, name)
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
