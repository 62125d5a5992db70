package route_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

func tool(name string, argv ...string) route.Route {
	return route.Route{Name: name, Kind: route.Tool{Argv: argv, Ask: route.AskAll}}
}

func bridge(name, socket string, env ...string) route.Route {
	return route.Route{Name: name, Env: env, Kind: route.Bridge{Socket: socket}}
}

func open(name string) route.Route { return route.Route{Name: name, Kind: route.Open{}} }

func many(n int) (routes []route.Route) {
	for i := range n {
		routes = append(routes, bridge("b"+strconv.Itoa(i), "/run/b.sock"))
	}
	return routes
}

// links stands in for a file system: what each path is a link to.
func links(to map[string]string) func(string) string {
	return route.Follow(func(p string) (string, error) {
		for link, target := range to {
			if p == link || strings.HasPrefix(p, link+"/") {
				return target + strings.TrimPrefix(p, link), nil
			}
		}
		if strings.Contains(p, "missing") {
			return "", fs.ErrNotExist
		}
		return p, nil
	})
}

func TestCheckRoutes(t *testing.T) {
	secret := route.Secret{Host: "a.example", Header: "A", Value: "v1", Placeholder: "p1"}
	for _, c := range []struct {
		name   string
		routes []route.Route
		beside route.Beside
		want   string // the refusal; empty: they are mounted
	}{
		{"none", nil, route.Beside{}, ""},
		{"one name, two kinds", []route.Route{tool("a", "/bin/a"), bridge("a", "/run/a")}, route.Beside{}, ""},
		{"one kind, two names", []route.Route{bridge("a", "/run/a"), bridge("b", "/run/a")}, route.Beside{}, ""},
		{"as many as can be", many(64), route.Beside{}, ""},
		{"one kind and name twice", []route.Route{bridge("a", "/run/a"), tool("a", "/bin/a"), bridge("a", "/run/b")}, route.Beside{}, `/2/name: "a": route 0 of this kind has that name`},
		{"more than can be", many(65), route.Beside{}, "65 routes, want at most 64"},
		{"no kind", []route.Route{{Name: "a"}}, route.Beside{}, "/0: no kind, want one of tool, local_model, open, secret, model, bridge"},
		{"no name", []route.Route{open("a"), bridge("", "/run/a")}, route.Beside{}, "/1/name: empty, want a name"},

		{"a variable twice", []route.Route{bridge("a", "/run/a", "URL"), bridge("b", "/run/b", "URL")}, route.Beside{}, "/1/env: URL: route 0 sets it too"},
		{"a variable twice in one", []route.Route{bridge("a", "/run/a", "URL", "URL")}, route.Beside{}, ""},
		{"two tools of one variable", []route.Route{tool("a-b", "/bin/a"), tool("a.b", "/bin/a")}, route.Beside{}, "/1/name: LNK_TOOL_A_B: route 0 sets it too"},
		{"two that open", []route.Route{open("a"), open("b")}, route.Beside{}, "/1/name: LNK_SANDBOX_OPEN: route 0 sets it too"},
		{"two models of one port", []route.Route{{Name: "a", Kind: route.LocalModel{Port: 1}}, {Name: "b", Kind: route.LocalModel{Port: 1}}}, route.Beside{}, "/1/name: LNK_LOCAL_MODEL_1: route 0 sets it too"},
		{"a provider's variable twice", []route.Route{
			bridge("a", "/run/a", "OPENAI_BASE_URL"),
			{Name: "b", Kind: route.Model{Provider: "openai", Upstream: "https://a.example", Header: "A", Value: "v"}},
		}, route.Beside{}, "/1/name: OPENAI_BASE_URL: route 0 sets it too"},
		{"another kind's variable", []route.Route{bridge("a", "/run/a", "LNK_TOOL_GH")}, route.Beside{}, `/0/env/0: "LNK_TOOL_GH": the sandbox sets it itself`},
		{"the proxy's variable", []route.Route{bridge("a", "/run/a", "HTTPS_PROXY")}, route.Beside{}, `/0/env/0: "HTTPS_PROXY": the sandbox sets it itself`},
		{"what an open route sets too", []route.Route{{Name: "a", Env: []string{"BROWSER"}, Kind: route.Open{}}}, route.Beside{}, `/0/env/0: "BROWSER": the sandbox sets it itself`},
		{"a variable that run keeps", []route.Route{bridge("a", "/run/a", "PATH")}, route.Beside{}, `/0/env/0: "PATH": lnk sandbox run sets it itself`},
		{"a variable that injects", []route.Route{bridge("a", "/run/a", "NODE_OPTIONS")}, route.Beside{}, `/0/env/0: "NODE_OPTIONS": it makes programs load or run other code`},
		{"what is no variable", []route.Route{bridge("a", "/run/a", "A=B")}, route.Beside{}, `/0/env/0: "A=B": not the name of a variable: letters, digits and underscores, the first no digit`},

		{"a relative socket", []route.Route{bridge("a", "run/a")}, route.Beside{}, `/0/bridge/socket: "run/a": not an absolute path`},
		{"no program", []route.Route{{Name: "a", Kind: route.Tool{Ask: route.AskAll}}}, route.Beside{}, "/0/tool/argv: empty, want at least the program"},
		{"a program on PATH", []route.Route{tool("a", "gh")}, route.Beside{}, `/0/tool/argv/0: "gh": not an absolute path`},
		{"a header of the connection", []route.Route{{Name: "a", Kind: route.Secret{Host: "a.example", Header: "Transfer-Encoding", Value: "v", Placeholder: "p"}}}, route.Beside{}, `/0/secret/header: "Transfer-Encoding": a header of the connection or of lnk, not of the request`},
		{"a header of lnk's", []route.Route{{Name: "a", Kind: route.Model{Provider: "openai", Upstream: "https://a.example", Header: "lnk-caller", Value: "v"}}}, route.Beside{}, `/0/model/header: "lnk-caller": a header of the connection or of lnk, not of the request`},
		{"a secret in a query of white space", []route.Route{{Name: "a", Kind: route.Secret{Host: "a.example", Query: "a b", Value: "v", Placeholder: "p"}}}, route.Beside{}, `/0/secret/query: "a b": holds white space or a control character`},

		{"a model at no port", []route.Route{{Name: "a", Kind: route.LocalModel{}}}, route.Beside{}, "/0/local_model/port: want a whole number of 1 to 65535"},
		{"a host of white space", []route.Route{{Name: "a", Kind: route.Secret{Host: "a .example", Header: "A", Value: "v", Placeholder: "p"}}}, route.Beside{}, `/0/secret/host: "a .example": holds white space or a control character`},
		{"a path of white space", []route.Route{{Name: "a", Kind: route.Secret{Host: "a.example", Header: "A", Value: "v", Placeholder: "p", Paths: []string{"/ok", "/a b"}}}}, route.Beside{}, `/0/secret/paths/1: "/a b": holds white space or a control character`},
		{"a key that starts a header", []route.Route{{Name: "a", Kind: route.Model{Provider: "openai", Upstream: "https://a.example", Header: "A", Value: "v\r\nB: c"}}}, route.Beside{}, "/0/model/value: holds something other than printable ASCII"},
		{"an API at an address of white space", []route.Route{{Name: "a", Kind: route.Model{Provider: "openai", Upstream: "https://a.example/ b", Header: "A", Value: "v"}}}, route.Beside{}, "/0/model/upstream: empty, or holds white space or a control character"},

		{"a socket in what is written", []route.Route{bridge("a", "/p/sub/a.sock")}, route.Beside{Write: []string{"/q", "/p"}}, `/0/bridge/socket: "/p/sub/a.sock": in "/p", which the program writes and so could serve it`},
		{"a socket that is written", []route.Route{bridge("a", "/p/a.sock")}, route.Beside{Write: []string{"/p/a.sock"}}, `/0/bridge/socket: "/p/a.sock": in "/p/a.sock", which the program writes and so could serve it`},
		{"a socket beside what is written", []route.Route{bridge("a", "/pa/a.sock")}, route.Beside{Write: []string{"/p"}}, ""},
		{"a socket with the root written", []route.Route{bridge("a", "/run/a.sock")}, route.Beside{Write: []string{"/"}}, `/0/bridge/socket: "/run/a.sock": in "/", which the program writes and so could serve it`},
		{"a program in what is written", []route.Route{tool("a", "/p/gh")}, route.Beside{Write: []string{"/p"}}, `/0/tool/argv/0: "/p/gh": in "/p", which the program writes and so could replace it`},
		{"a link out of what is written", []route.Route{tool("a", "/p/gh")}, route.Beside{Write: []string{"/p"}, Resolve: links(map[string]string{"/p/gh": "/usr/bin/gh"})}, `/0/tool/argv/0: "/p/gh": in "/p", which the program writes and so could replace it`},
		{"a script in what is written", []route.Route{tool("a", "/usr/bin/python3", "/p/s.py")}, route.Beside{Write: []string{"/p"}}, `/0/tool/argv/1: "/p/s.py": in "/p", which the program writes and so could replace it`},
		{"a file of an option in it", []route.Route{tool("a", "/usr/bin/make", "--file=/p/Makefile")}, route.Beside{Write: []string{"/p"}}, `/0/tool/argv/1: "/p/Makefile": in "/p", which the program writes and so could replace it`},
		{"one behind a letter", []route.Route{tool("a", "/usr/bin/make", "-f/q/../p/Makefile")}, route.Beside{Write: []string{"/p"}}, `/0/tool/argv/1: "/p/Makefile": in "/p", which the program writes and so could replace it`},
		{"a script beside the program's folder", []route.Route{tool("a", "/bin/sh", "./s.sh")}, route.Beside{}, `/0/tool/argv/1: "./s.sh": relative to a folder that the program chooses: write the whole path`},
		{"the written folder itself, and words that are no paths", []route.Route{tool("a", "/usr/bin/git", "-C", "/p", "--work-tree=/p/", "origin/main", "-x", "a=b")}, route.Beside{Write: []string{"/p"}}, ""},
		{"a link into what is written", []route.Route{bridge("a", "/run/a.sock")}, route.Beside{Write: []string{"/p"}, Resolve: links(map[string]string{"/run/a.sock": "/p/a.sock"})}, `/0/bridge/socket: "/run/a.sock": in "/p", which the program writes and so could serve it`},
		{"a folder that is a link into it, its socket still missing", []route.Route{bridge("a", "/run/missing.sock")}, route.Beside{Write: []string{"/p"}, Resolve: links(map[string]string{"/run": "/p"})}, `/0/bridge/socket: "/run/missing.sock": in "/p", which the program writes and so could serve it`},
		{"what is written is a link", []route.Route{bridge("a", "/real/a.sock")}, route.Beside{Write: []string{"/p"}, Resolve: links(map[string]string{"/p": "/real"})}, `/0/bridge/socket: "/real/a.sock": in "/p", which the program writes and so could serve it`},
		{"in another case", []route.Route{bridge("a", "/P/a.sock")}, route.Beside{Write: []string{"/p"}}, ""},
		{"in another case, where that is the same", []route.Route{bridge("a", "/P/a.sock")}, route.Beside{Write: []string{"/p"}, FoldCase: true}, `/0/bridge/socket: "/P/a.sock": in "/p", which the program writes and so could serve it`},

		{"in the settings in the home folder", []route.Route{bridge("a", "/h/.lnk/a.sock")}, route.Beside{Write: []string{"/h"}, Closed: []string{"/h/.lnk"}}, ""},
		{"in the settings, written by name", []route.Route{bridge("a", "/h/.lnk/a.sock")}, route.Beside{Write: []string{"/h/.lnk"}, Closed: []string{"/h/.lnk"}}, ""},
		{"in what is hidden in it", []route.Route{bridge("a", "/p/h/a.sock")}, route.Beside{Write: []string{"/p"}, Hide: []string{"/p/h"}}, ""},
		{"in what is hidden and opened again", []route.Route{bridge("a", "/p/h/w/a.sock")}, route.Beside{Write: []string{"/p", "/p/h/w"}, Hide: []string{"/p/h"}}, `/0/bridge/socket: "/p/h/w/a.sock": in "/p/h/w", which the program writes and so could serve it`},
		{"in what is hidden and written by one name", []route.Route{bridge("a", "/p/a.sock")}, route.Beside{Write: []string{"/p"}, Hide: []string{"/p"}}, `/0/bridge/socket: "/p/a.sock": in "/p", which the program writes and so could serve it`},
		{"beside what is hidden", []route.Route{bridge("a", "/p/a.sock")}, route.Beside{Write: []string{"/p"}, Hide: []string{"/p/h"}}, `/0/bridge/socket: "/p/a.sock": in "/p", which the program writes and so could serve it`},
		{"a secret has no place", []route.Route{{Name: "a", Kind: secret}}, route.Beside{Write: []string{"/"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := route.CheckRoutes(c.routes, c.beside)
			if got := message(err); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if err != nil && !errors.Is(err, form.ErrRequest) {
				t.Error("it does not wrap ErrRequest")
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The same with links of a real file system.
func TestCheckRoutesFollowsLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(dir, "written")
	if err := os.Mkdir(written, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(written, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	routes := []route.Route{bridge("a", filepath.Join(dir, "link", "not-there-yet", "a.sock"))}
	beside := route.Beside{Write: []string{written}}
	if err := route.CheckRoutes(routes, beside); err != nil {
		t.Errorf("as it is written it is elsewhere: %v", err)
	}
	beside.Resolve = route.Follow(filepath.EvalSymlinks)
	if err := route.CheckRoutes(routes, beside); err == nil {
		t.Error("a socket behind a link into what is written is mounted")
	}
}

func TestFollowEnds(t *testing.T) {
	nothing := route.Follow(func(string) (string, error) { return "", fs.ErrPermission })
	for _, p := range []string{"/a/b", "/", "a/b", "."} {
		if got := nothing(p); got != p {
			t.Errorf("%s leads to %s, where nothing can be looked at", p, got)
		}
	}
}
