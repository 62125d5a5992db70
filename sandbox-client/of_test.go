package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// machine is a Base of a machine that is only told of: which paths are there,
// and which of them are links.
func machine(links map[string]string) client.Base {
	return client.Base{
		Home: "/home/ann", Folder: "/home/ann/web", Settings: "/home/ann/.lnk", Sockets: "/run/user/1000/web",
		Resolve: func(p string) (string, error) {
			for link, to := range links {
				if p == link || strings.HasPrefix(p, link+"/") {
					return to + strings.TrimPrefix(p, link), nil
				}
			}
			switch filepath.Base(p) {
			case "missing", "pack*", ".env":
				return "", &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrNotExist}
			case "denied":
				return "", &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrPermission}
			}
			return p, nil
		},
		Tool: func(name string) (route.Tool, error) {
			switch name {
			case "gh":
				return route.Tool{Argv: []string{"/usr/bin/gh"}, Ask: route.AskAll, Allow: [][]string{{"pr", "*"}}}, nil
			case "g.h", "g-h":
				return route.Tool{Argv: []string{"/usr/bin/gh"}, Ask: route.AskAll}, nil
			case "mine":
				return route.Tool{Argv: []string{"/home/ann/web/tool"}, Ask: route.AskAll}, nil
			case "broken":
				return route.Tool{}, errors.New("/argv: missing")
			}
			return route.Tool{}, fs.ErrNotExist
		},
	}
}

// written gives a confinement as it is sent.
func written(t *testing.T, c client.Confinement) string {
	t.Helper()
	var b bytes.Buffer
	if err := client.WriteCheckRequest(&b, client.CheckRequest{Confinement: c}); err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSuffix(strings.TrimPrefix(b.String(), `{"confinement":`), "}\n")
	return line
}

func read(t *testing.T, spec string) client.Spec {
	t.Helper()
	s, err := client.ReadSpecJSON(strings.NewReader(spec))
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return s
}

func TestOf(t *testing.T) {
	const closed = `"commands":"any","net":"closed"}`
	for _, c := range []struct{ name, spec, want string }{
		{"nothing is open", `{"name":"web"}`, `{"name":"web","write":[],"read":[],` + closed},
		{
			"paths in full", `{"name":"web","files":{"write":[".","~/out","/srv/x/"],"write_dot_files":["./.git","~/out"],"read":["../notes","~"],"hide":["./secrets","missing"],"tmp_prefix":"web-"}}`,
			`{"name":"web","write":["/home/ann/web","/home/ann/out","/srv/x"],"write_dot_files":["/home/ann/web/.git","/home/ann/out"],` +
				`"read":["/home/ann/notes","/home/ann"],"hide":["/home/ann/web/secrets","/home/ann/web/missing"],"tmp_prefix":"web-",` + closed,
		},
		{"each path once", `{"name":"web","files":{"write":[".","/home/ann/web","./"],"hide":["a","./a"]}}`, `{"name":"web","write":["/home/ann/web"],"read":[],"hide":["/home/ann/web/a"],` + closed},
		{
			"what is executed", `{"name":"web","program":{"commands":{"only":["/usr/bin/git","~/bin","run.sh"]},"developer_tools":true,"terminal":true}}`,
			`{"name":"web","write":[],"read":[],"terminal":true,"commands":{"only":["/usr/bin/git","/home/ann/bin","/home/ann/web/run.sh"]},"developer_tools":true,"net":"closed"}`,
		},
		{"loopback", `{"name":"web","network":{"mode":"loopback","ports":[5432]}}`, `{"name":"web","write":[],"read":[],"commands":"any","net":{"loopback":{"ports":[5432],"dir":"/run/user/1000/web"}}}`},
		{"host", `{"name":"web","network":{"mode":"host"}}`, `{"name":"web","write":[],"read":[],"commands":"any","net":{"host":{"ports":[],"localhost":false}}}`},
		{"any host", `{"name":"web","network":{"mode":"proxied"}}`, `{"name":"web","write":[],"read":[],"commands":"any","net":{"proxied":{"proxy":{"upstream":"direct","dir":"/run/user/1000/web"},"ports":[]}}}`},
		{"no host", `{"name":"web","network":{"mode":"proxied","hosts":[]}}`, `{"name":"web","write":[],"read":[],"commands":"any","net":{"proxied":{"proxy":{"upstream":"direct","dir":"/run/user/1000/web","hosts":[]},"ports":[]}}}`},
		{
			"a whole proxy", `{"name":"web","network":{"mode":"proxied","hosts":["a.example"],"tcp":["b.example:22"],"lan":true,"no_internet":true,"per_minute":60,"ports":[5432],"serve":[3000],"upstream":"system","tools":["gh"],"local_models":[11434],"open":true}}`,
			`{"name":"web","write":[],"read":[],"commands":"any","net":{"proxied":{"proxy":{"upstream":"system","dir":"/run/user/1000/web","serve":[3000],"hosts":["a.example"],"tcp":["b.example:22"],"per_minute":60,` +
				`"routes":[{"name":"gh","secret":true,"tool":{"argv":["/usr/bin/gh"],"ask":"all","allow":[["pr","*"]]}},{"name":"11434","local_model":{"port":11434}},{"name":"open","secret":true,"open":{}}],` +
				`"lan":true,"no_internet":true},"ports":[5432]}}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := client.Of(read(t, c.spec), machine(nil))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, written(t, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is not asked for by its very name stays hidden in a home that is read.
func TestOfHidesCredentials(t *testing.T) {
	spec := read(t, `{"name":"web","files":{"read_home":true,"hide":["~/.aws","~/diary"],"read":["~/.netrc","~/.config"],"write":["~/.docker","~/.ssh/sockets"]}}`)
	c, err := client.Of(spec, machine(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		".ssh": true, ".gnupg": true, ".aws": true, ".azure": true, ".config/gcloud": true, ".kube": true, ".config/gh": true,
		".mozilla": true, ".config/google-chrome": true, "Library/Keychains": true, ".password-store": true, ".bash_history": true,
		".zsh_history": true, "diary": true, ".netrc": false, ".docker": false, ".config": false,
	} {
		n := 0
		for _, h := range c.Hide {
			if h == "/home/ann/"+name {
				n++
			}
		}
		if want != (n == 1) || n > 1 {
			t.Errorf("%s is hidden %d times", name, n)
		}
	}
	if c, _ := client.Of(read(t, `{"name":"web","files":{"read":["~"]}}`), machine(nil)); len(c.Hide) != 0 {
		t.Errorf("without read_home %d are hidden", len(c.Hide))
	}
}

func TestCredentials(t *testing.T) {
	all := client.Credentials()
	seen := map[string]bool{}
	for _, name := range all {
		if name == "" || filepath.IsAbs(name) || filepath.Clean(name) != name || strings.HasPrefix(name, "..") || seen[name] {
			t.Errorf("%q is no path of a home folder, or there twice", name)
		}
		seen[name] = true
	}
	// What tools need to work at all is not among them.
	for _, name := range []string{".gitconfig", ".config", ".config/git", ".config/git/config", ".local", ".local/share", ".cache", ".cargo", ".npm", ".bashrc", "Library", ".claude"} {
		if seen[name] {
			t.Errorf("%s is hidden, and more in it than credentials", name)
		}
	}
}

func TestOfRefuses(t *testing.T) {
	links := map[string]string{
		"/home/ann/l-home": "/home/ann", "/home/ann/l-settings": "/home/ann/.lnk/sandbox", "/home/ann/l-root": "/", "/home/ann/l-etc": "/etc/ssh",
		"/home/ann/l-ok": "/data/x",
	}
	for _, c := range []struct{ name, spec, want string }{
		{"no name", `{}`, `name: missing`},
		{"root", `{"name":"w","files":{"write":["/"]}}`, `files.write: "/": the whole machine, name the folders that are written`},
		{"home", `{"name":"w","files":{"write":["~"]}}`, `files.write: "/home/ann": the home folder itself, name the folders in it that are written`},
		{"home by its path", `{"name":"w","files":{"write":["/home/ann/"]}}`, `files.write: "/home/ann": the home folder itself, name the folders in it that are written`},
		{"home from the spec's folder", `{"name":"w","files":{"write":[".."]}}`, `files.write: "/home/ann": the home folder itself, name the folders in it that are written`},
		{"above home", `{"name":"w","files":{"write":["/home"]}}`, `files.write: "/home": holds the settings folder /home/ann/.lnk, which stays closed, name the folders in it that are written`},
		{"settings", `{"name":"w","files":{"write":["~/.lnk"]}}`, `files.write: "/home/ann/.lnk": in the settings folder /home/ann/.lnk, which stays closed, name a folder elsewhere`},
		{"in the settings", `{"name":"w","files":{"write":["~/.lnk/sandbox/tools"]}}`, `files.write: "/home/ann/.lnk/sandbox/tools": in the settings folder /home/ann/.lnk, which stays closed, name a folder elsewhere`},
		{"beside the settings", `{"name":"w","files":{"write":["~/.lnk2"]}}`, ``},
		{"a link to home", `{"name":"w","files":{"write":["~/l-home"]}}`, `files.write: "/home/ann/l-home": a link to "/home/ann", the home folder itself, name the folders in it that are written`},
		{"a link into the settings", `{"name":"w","files":{"write":["~/l-settings/tools"]}}`, `files.write: "/home/ann/l-settings/tools": a link to "/home/ann/.lnk/sandbox/tools", in the settings folder /home/ann/.lnk, which stays closed, name a folder elsewhere`},
		{"a link to the root", `{"name":"w","files":{"write":["~/l-root"]}}`, `files.write: "/home/ann/l-root": a link to "/", the whole machine, name the folders that are written`},
		{"a link to a system folder", `{"name":"w","files":{"write":["~/l-etc"]}}`, `files.write: "/home/ann/l-etc": a link to "/etc/ssh", a system folder, name a folder of your own`},
		{"a link elsewhere", `{"name":"w","files":{"write":["~/l-ok"]}}`, ``},
		{"not there", `{"name":"w","files":{"write":["missing"]}}`, `files.write: "/home/ann/web/missing": not there, make it first`},
		{"a pattern", `{"name":"w","files":{"write":["pack*"]}}`, `files.write: "/home/ann/web/pack*": not there, and patterns are not expanded: name each file or folder`},
		{"hides a pattern", `{"name":"w","files":{"hide":["**/.env"]}}`, `files.hide: "/home/ann/web/**/.env": not there, and patterns are not expanded: name each file or folder`},
		{"hides a choice", `{"name":"w","files":{"hide":["{a,b}/.env"]}}`, `files.hide: "/home/ann/web/{a,b}/.env": not there, and patterns are not expanded: name each file or folder`},
		{"hides by a variable", `{"name":"w","files":{"hide":["$HOME/missing"]}}`, `files.hide: "/home/ann/web/$HOME/missing": not there, and variables are not expanded: write the path in full`},
		{"hides what is called like one", `{"name":"w","files":{"hide":["[id].js"]}}`, ``},
		{"hides what is not there", `{"name":"w","files":{"hide":["missing"]}}`, ``},
		{"not to be looked at", `{"name":"w","files":{"write":["denied"]}}`, `files.write: "/home/ann/web/denied": cannot be looked at: permission denied`},
		{"read that is not there", `{"name":"w","files":{"read":["~/missing"]}}`, `files.read: "/home/ann/missing": not there, make it first`},
		{"read of the settings is the confinement's to close", `{"name":"w","files":{"read":["~/.lnk"]}}`, ``},
		{"dot files of what is not written", `{"name":"w","files":{"write":["."],"write_dot_files":["sub"]}}`, `files.write_dot_files: "/home/ann/web/sub": has to be one of write too, or a dot file at the top of one (.git, .envrc, .vscode, .idea)`},
		{"command that is not there", `{"name":"w","program":{"commands":{"only":["missing"]}}}`, "program.commands.only: \"/home/ann/web/missing\": not there: in a spec a program is named by its path, as `command -v missing` says it"},
		{"command in a folder that is not there", `{"name":"w","program":{"commands":{"only":["./missing"]}}}`, `program.commands.only: "/home/ann/web/missing": not there, make it first`},
		{"tool that is none", `{"name":"w","network":{"mode":"proxied","tools":["jq"]}}`, `network.tools: "jq": no tool of that name runs outside, add it with lnk sandbox tool add`},
		{"tool that cannot be read", `{"name":"w","network":{"mode":"proxied","tools":["broken"]}}`, `network.tools: "broken": /argv: missing`},
		{"tools of one variable", `{"name":"w","network":{"mode":"proxied","tools":["g.h","g-h"]}}`, `network.tools: "g-h": LNK_TOOL_G_H: route 0 sets it too`},
		{"tool that the program writes", `{"name":"w","files":{"write":["."]},"network":{"mode":"proxied","tools":["mine"]}}`, `network.tools: "mine": "/home/ann/web/tool": in "/home/ann/web", which the program writes and so could replace it`},
		{"key of another mode", `{"name":"w","network":{"mode":"host","localhost":true,"ports":[1]}}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := client.Of(read(t, c.spec), machine(links))
			if got := message(err); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			var e *client.SpecError
			if err != nil && (!errors.As(err, &e) || !errors.Is(err, client.ErrRequest) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%T is no refusal of the spec", err)
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

// A spec made in Go is judged as one that was read.
func TestOfJudgesSpecsMadeInGo(t *testing.T) {
	zero := 0
	for _, c := range []struct {
		spec client.Spec
		want string
	}{
		{client.Spec{Name: "../w"}, "name: "},
		{client.Spec{Name: "w", Network: client.SpecNetwork{Mode: "proxied", PerMinute: &zero}}, "network.per_minute: 0: want 1 or more"},
		{client.Spec{Name: "w", Network: client.SpecNetwork{Mode: "Proxied"}}, "network.mode: "},
		{client.Spec{Name: "w", Network: client.SpecNetwork{Hosts: []string{}}}, "network.hosts: not with"},
		{client.Spec{Name: "w", Network: client.SpecNetwork{Mode: "host", Ports: []uint16{0}}}, "network.ports[0]: 0: want a port"},
		{client.Spec{Name: "w", Files: client.SpecFiles{Write: []string{"a\x00b"}}}, "files.write[0]: holds a NUL"},
		{client.Spec{Name: "w", Program: client.SpecProgram{Commands: &client.Commands{}}}, `program.commands: neither "any" nor`},
		{client.Spec{Name: "w", Program: client.SpecProgram{Commands: new(client.OnlyCommands())}}, "program.commands.only: empty"},
	} {
		_, err := client.Of(c.spec, machine(nil))
		if !strings.HasPrefix(message(err), c.want) || !errors.Is(err, client.ErrRequest) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// A Base that is no use is its maker's fault, not the spec's.
func TestOfRefusesABase(t *testing.T) {
	spec := read(t, `{"name":"w","files":{"write":["x"]},"network":{"mode":"proxied"}}`)
	for _, change := range []func(*client.Base){
		func(b *client.Base) { b.Home = "" },
		func(b *client.Base) { b.Folder = "rel" },
		func(b *client.Base) { b.Settings = "" },
		func(b *client.Base) { b.Sockets = "" },
	} {
		b := machine(nil)
		change(&b)
		if _, err := client.Of(spec, b); err == nil || errors.Is(err, client.ErrRequest) {
			t.Errorf("%v", err)
		}
	}
}

func TestCheckWriteSystemFolders(t *testing.T) {
	b := machine(nil)
	for _, p := range strings.Fields("/usr /usr/bin /usr/local /usr/local/bin /etc /etc/ssh /bin /sbin /lib /lib64 /boot /dev /dev/shm /proc /sys /run /run/user /var /var/lib /var/log /var/run /var/spool/cron " +
		"/opt /srv /root /nix /nix/store/x /snap /System /System/Volumes/Data /Library /Library/LaunchDaemons /Applications /Users /Volumes /private /private/etc /private/var /usr/src /run/media /opt/homebrew") {
		if err := b.CheckWrite(p); err == nil || !strings.Contains(err.Error(), "a system folder, name a folder of your own") {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, p := range strings.Fields("/usr/src/app /usr/local/src/app /var/www /var/lib/app /var/tmp /var/folders/x/y/T /private/var/folders/x /private/tmp /tmp /tmp/x /opt/app /srv/app /mnt /data /home/bob/x /Users/bob/x /Volumes/Disk /run/media/ann/Disk /etcetera /librarian /home/ann/etc /workspace") {
		if err := b.CheckWrite(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	// A home folder in a system folder is somebody's all the same.
	b.Home, b.Settings = "/usr/home/ann", "/usr/home/ann/.lnk"
	if err := b.CheckWrite("/usr/home/ann/p"); err != nil {
		t.Error(err)
	}
	if err := b.CheckWrite("/usr/home"); err == nil {
		t.Error("a folder above the home folder may be written")
	}
	// Settings elsewhere: what holds the home folder is refused for that.
	b.Home, b.Settings = "/data/people/ann", "/conf/lnk"
	for p, want := range map[string]string{
		"/data/people": "holds the home folder", "/conf": "holds the settings folder", "/conf/lnk/x": "in the settings folder", "/data/people/ann": "the home folder itself", "/data/people/bob": "",
	} {
		if err := b.CheckWrite(p); !strings.Contains(message(err), want) || (want == "") != (err == nil) {
			t.Errorf("%s: %v, want %s", p, err, want)
		}
	}
	// Where the file system folds case, another spelling is the same folder.
	b = machine(nil)
	for _, p := range []string{"/HOME/Ann/.LNK/x", "/Home/ann", "/ETC"} {
		b.FoldCase = false
		if err := b.CheckWrite(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		b.FoldCase = true
		if err := b.CheckWrite(p); err == nil {
			t.Errorf("%s may be written", p)
		}
	}
	for _, p := range []string{"", "rel", "/a/../b", "/a\x00"} {
		if err := b.CheckWrite(p); err == nil {
			t.Errorf("%q may be written", p)
		}
	}
}

// The same with links of a real file system, and settings that are a link.
func TestOfFollowsLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	for _, p := range []string{"home/p", "data/settings/sandbox", "data/other"} {
		if err := os.MkdirAll(filepath.Join(dir, p), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"home/.lnk": "data/settings", "home/p/up": "home", "home/p/in": "home/.lnk/sandbox", "home/p/out": "data/other", "home/p/dangling": "data/none"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv(client.HomeVariable, "")
	base, err := client.BaseFor(filepath.Join(home, "p"))
	if err != nil {
		t.Fatal(err)
	}
	for write, want := range map[string]string{
		".": "", "out": "", "up": "the home folder itself", "in": "in the settings folder", "up/.lnk": "in the settings folder",
		"../../data": "holds the settings folder", "../../data/settings": "in the settings folder", "dangling": "not there", "none": "not there", "up/p": "",
	} {
		spec := client.Spec{Name: "w", Files: client.SpecFiles{Write: []string{write}}}
		if _, err := client.Of(spec, base); !strings.Contains(message(err), want) || (want == "") != (err == nil) {
			t.Errorf("%s: %v, want %q", write, err, want)
		}
	}
}

// A registered tool is read from the settings folder.
func TestBaseForTools(t *testing.T) {
	settings := client.SettingsFolder(filepath.Join(t.TempDir(), "settings"))
	t.Setenv(client.HomeVariable, string(settings))
	base, err := client.BaseFor(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := base.Tool("gh"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no tool: %v", err)
	}
	if _, err := base.Tool("../gh"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name that leads out: %v", err)
	}
	if err := os.MkdirAll(settings.Tools(), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"gh":    `{"name":"gh","argv":["/usr/bin/gh"],"ask":"none","allow":[]}`,
		"other": `{"name":"gh","argv":["/usr/bin/gh"],"ask":"none","allow":[]}`,
		"bad":   `{"name":"bad"}`,
	} {
		path, err := settings.Tool(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if tool, err := base.Tool("gh"); err != nil || !slices.Equal(tool.Argv, []string{"/usr/bin/gh"}) || tool.Ask != route.AskNone {
		t.Errorf("read %+v (%v)", tool, err)
	}
	for _, name := range []string{"other", "bad"} {
		if _, err := base.Tool(name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnwalledOf(t *testing.T) {
	for _, c := range []struct{ name, spec, want string }{
		{"proxied", `{"name":"w","files":{"write":["."]},"network":{"mode":"proxied","hosts":["a.example"],"tools":["gh"],"serve":[3000],"upstream":"direct"}}`,
			`{"unwalled":{"name":"w","proxy":{"upstream":"direct","dir":"/run/user/1000/web","serve":[3000],"hosts":["a.example"],"routes":[{"name":"gh","secret":true,"tool":{"argv":["/usr/bin/gh"],"ask":"all","allow":[["pr","*"]]}}]},"pointed":true},"argv":["x"]}` + "\n"},
		{"closed", `{"name":"w"}`, `network.mode: "closed": nothing holds a program with no wall to it, want proxied`},
		{"host", `{"name":"w","network":{"mode":"host"}}`, `network.mode: "host": nothing holds a program with no wall to it, want proxied`},
		{"upstream", `{"name":"w","network":{"mode":"proxied","upstream":"system"}}`, `network.upstream: want direct: a program with no wall is not held to a proxy`},
		{"no name", `{"network":{"mode":"proxied"}}`, `name: missing`},
		{"no tool", `{"name":"w","network":{"mode":"proxied","tools":["jq"]}}`, `network.tools: "jq": no tool of that name runs outside, add it with lnk sandbox tool add`},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := client.UnwalledOf(read(t, c.spec), machine(nil), true)
			got := message(err)
			if err == nil {
				var b bytes.Buffer
				if err := client.WriteWrapRequest(&b, client.WrapRequest{Unwalled: &u, Argv: []string{"x"}}); err != nil {
					t.Fatal(err)
				}
				got = b.String()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckConfinement(t *testing.T) {
	bridge := route.Route{Name: "m", Kind: route.Bridge{Socket: "/home/ann/.lnk/m.sock"}}
	written := route.Route{Name: "m", Kind: route.Bridge{Socket: "/home/ann/p/m.sock"}}
	proxied := func(dir string, routes ...route.Route) client.Net {
		return client.NetOf(client.Proxied{Proxy: client.Proxy{Upstream: "direct", Dir: dir, Routes: routes}})
	}
	for _, c := range []struct {
		name string
		net  client.Net
		hide []string
		want string
	}{
		{"closed", client.NetOf(client.Closed{}), nil, ""},
		{"sockets elsewhere", proxied("/run/x"), nil, ""},
		{"sockets in what is written", proxied("/home/ann/p/x"), nil, `/net/proxied/proxy/dir: "/home/ann/p/x": in "/home/ann", which the program writes and so could replace its sockets`},
		{"sockets in the settings", proxied("/home/ann/.lnk/x"), nil, ""},
		{"sockets in what is hidden", proxied("/home/ann/p/x"), []string{"/home/ann/p"}, ""},
		{"sockets behind a link", proxied("/run/link/x"), nil, `/net/proxied/proxy/dir: "/run/link/x": in "/home/ann", which the program writes and so could replace its sockets`},
		{"a bridge in the settings", proxied("/run/x", bridge), nil, ""},
		{"a bridge in what is written", proxied("/run/x", written), nil, `/net/proxied/proxy/routes/0/bridge/socket: "/home/ann/p/m.sock": in "/home/ann", which the program writes and so could serve it`},
		{"a relay in what is written", client.NetOf(client.Loopback{Dir: "/home/ann/x"}), nil, `/net/loopback/dir: "/home/ann/x": in "/home/ann", which the program writes and so could replace its sockets`},
		{"a proxy that is reached", client.NetOf(client.Reaching{Reached: []client.Reached{{Dir: "/run/x", Port: 1}, {Dir: "/home/ann/x", Port: 2}}}), nil, `/net/reaching/reached/1/dir: "/home/ann/x": in "/home/ann", which the program writes and so could replace its sockets`},
		{"values are judged", proxied("rel"), nil, `/net/proxied/proxy/dir: "rel": not an absolute path`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := client.Confinement{Name: "w", Write: []string{"/home/ann"}, Hide: c.hide, Commands: client.AnyCommand(), Net: c.net}
			err := machine(map[string]string{"/run/link": "/home/ann/p"}).CheckConfinement(conf)
			if got := message(err); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func ExampleOf() {
	base := client.Base{Home: "/home/ann", Folder: "/home/ann/web", Settings: "/home/ann/.lnk"}
	_, err := client.Of(client.Spec{Name: "web", Files: client.SpecFiles{Write: []string{"~/.lnk"}}}, base)
	fmt.Println(err)
	// Output: files.write: "/home/ann/.lnk": in the settings folder /home/ann/.lnk, which stays closed, name a folder elsewhere
}

// Where a model server is reached on a proxy that holds no program is where a
// spec's route to it is mounted.
func TestLocalModelURL(t *testing.T) {
	if got := client.LocalModelURL(8080, 11434); got != "http://127.0.0.1:8080/local_model/11434" {
		t.Error(got)
	}
}
