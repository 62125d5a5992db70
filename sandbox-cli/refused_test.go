package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bad input gets one clear line and a status of its own; nothing is started,
// nothing is left.
func TestRunRefuses(t *testing.T) {
	s := newSandbox(t)
	specs := 0
	spec := func(text string) string {
		specs++
		path := filepath.Join(s.root, fmt.Sprintf("%d.sandbox.toml", specs))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return "--spec=" + path
	}
	settings := filepath.Join(s.home, ".lnk")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"a mistyped key":           {[]string{spec("name = \"x\"\n[network]\nmode = \"proxied\"\nhots = [\"a.test\"]\n")}, []string{"network.hots", "unknown"}},
		"a mistyped mode":          {[]string{spec("[network]\nmode = \"closd\"\n")}, []string{"network.mode", "closd"}},
		"no such spec":             {[]string{"--spec=" + s.root + "/none.toml"}, []string{"none.toml"}},
		"no TOML":                  {[]string{spec("name = \n")}, []string{"sandbox.toml"}},
		"a folder that is not":     {[]string{"--write=" + s.root + "/missing"}, []string{s.root + "/missing"}},
		"a spec without a name":    {[]string{"--spec="}, []string{"--spec", "empty"}},
		"a port in words":          {[]string{"--port=http"}, []string{"run: --port \"http\": want a port of 1 to 65535, or several with commas between them\n"}},
		"a port below none":        {[]string{"--port=-1"}, []string{"run: --port \"-1\": want a port"}},
		"processes in words":       {[]string{"--processes=many"}, []string{"run: --processes \"many\": want a whole number\n"}},
		"a command without a name": {[]string{"--write=" + s.project, "--only="}, []string{"--only", "empty"}},
		"a folder without a name":  {[]string{"--write="}, []string{"--write: ", "empty"}},
		"a hide without a name":    {[]string{"--write=" + s.project, "--hide="}, []string{"--hide: ", "empty"}},
		"a spec's without a name":  {[]string{spec("[files]\nwrite = [\"\"]\n")}, []string{"files.write", "empty"}},
		"a read that is not":       {[]string{"--write=" + s.project, "--read=" + s.root + "/missing"}, []string{s.root + "/missing"}},
		"the home":                 {[]string{"--write=" + s.home}, []string{s.home}},
		"the root":                 {[]string{"--write=/"}, []string{"/"}},
		"a system folder":          {[]string{"--write=/usr"}, []string{"/usr"}},
		"what holds the settings":  {[]string{"--write=" + s.root}, []string{s.root}},
		"what lies in them":        {[]string{"--write=" + settings + "/sandbox"}, []string{settings}},
		"a host that is no host":   {[]string{"--write=" + s.project, "--internet-host=https://a.test/"}, []string{"https://a.test/"}},
		"a port that is none":      {[]string{"--write=" + s.project, "--port=70000"}, []string{"70000"}},
		"a flag that is not there": {[]string{"--wirte=."}, []string{"--wirte: `lnk sandbox run --help` lists them\n"}},
		"a flag for a path":        {[]string{"--write", "--read", s.project}, []string{"run: --write: \"--read\": another flag"}},
		"a flag for a host":        {[]string{"--internet-host", "--tcp", s.project}, []string{"run: --internet-host: \"--tcp\": another flag"}},
		"a descriptor below none":  {[]string{"--with-fd=-1"}, []string{"\"-1\"", "want a descriptor of its own, 3 or more\n"}},
		"a descriptor in hex":      {[]string{"--with-fd=0x3"}, []string{"\"0x3\"", "want a whole number\n"}},
		"two descriptors":          {[]string{"--with-fd=3", "--with-fd=4"}, []string{"--with-fd", "3 was named before"}},
		"a secret's host":          {[]string{"--secret=TOK=A.example:x-key", "--secret-from=TOK=env:PATH"}, []string{"run: --secret: \"A.example:443\": not in normal form: write a.example:443\n"}},
		"a secret run's variable":  {[]string{"--secret=PATH=a.example:x-key"}, []string{"run: --secret: \"PATH\": lnk sandbox run sets it itself: give the secret another name\n"}},
		"a secret's address twice": {[]string{"--secret=T=a.example:x-key", "--secret-from=T=env:PATH", "--secret=T_URL=b.example:x-key", "--secret-from=T_URL=env:PATH"}, []string{"run: --secret: \"T_URL\": set twice: give the secret another name\n"}},
		"a table that is none":     {[]string{spec("[file]\n")}, []string{"file: unknown: want name, files, program, network, limits\n"}},
		"a key of files":           {[]string{spec("[files]\nwirte = []\n")}, []string{"files.wirte: unknown: want write, write_dot_files, read, read_home, hide, tmp_prefix\n"}},
		"JSON that is called TOML": {[]string{spec("{\"files\": {}}")}, []string{"a spec of JSON is in a file whose name ends in .json\n"}},
		"a secret without a value": {[]string{"--secret=none=a.example:x-key"}, []string{"the variable \"none\" is not set: set it, or say where the secret is: --secret-from none=env:<variable>"}},
	} {
		t.Run(name, func(t *testing.T) {
			marker := filepath.Join(s.project, "started")
			e := s.run(append(c.args, "--", "touch", marker)...)
			if e.status != 125 {
				t.Errorf("status %d, want 125", e.status)
			}
			if strings.Count(e.errors, "\n") != 1 || !strings.HasPrefix(e.errors, "lnk sandbox run: ") {
				t.Errorf("want one line: %q", e.errors)
			}
			for _, says := range c.says {
				if !strings.Contains(e.errors, says) {
					t.Errorf("%q does not say %q", e.errors, says)
				}
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("the program was started")
			}
		})
	}
	if _, err := os.Stat(filepath.Join(s.root, "missing")); err == nil {
		t.Error("a missing folder was made")
	}
}

// A request that is not right is refused whole: nothing on standard output, and
// a line that names the member.
func TestWrapRefuses(t *testing.T) {
	s := newSandbox(t)
	good := `{"confinement":{"name":"x","write":[],"read":[],"commands":"any","net":"closed"},"argv":["true"]}`
	if e := s.command(good, []string{lnk(), "sandbox", "wrap"}); e.status != 0 || e.out == "" {
		t.Fatalf("the honest request: status %d: %s", e.status, e.errors)
	}
	for _, c := range []struct{ from, to, says string }{
		{`"write":[]`, `"wirte":[]`, "wirte"},
		{`"write":[]`, `"WRITE":[]`, "WRITE"},
		{`"write":[]`, `"write":["rel/ative"]`, "rel/ative"},
		{`"write":[]`, `"write":null`, "/confinement/write"},
		{`"write":[]`, `"write":[],"write":["/"]`, "write"},
		{`"closed"`, `"closd"`, "closd"},
		{`"closed"`, `{"host":{"ports":[],"localhost":true},"loopback":{"ports":[],"dir":"/tmp"}}`, "net"},
		{`"any"`, `{"only":[]}`, "commands"},
		{`"any"`, `"none"`, "none"},
		{`,"net":"closed"`, ``, "net"},
		{`["true"]`, `[]`, "argv"},
		{`"argv":["true"]`, `"argv":["true"],"argv":["false"]`, "argv"},
		{`"confinement"`, `"policy"`, "confinement"},
		{good, good + good, "follows"},
		{`"closed"`, `{"proxied":{"proxy":{"upstream":"direct","dir":"/tmp","hosts":["a.test/x"]},"ports":[]}}`, "a.test/x"},
		{`"closed"`, `{"proxied":{"proxy":{"upstream":"direct","dir":"/tmp","hosts":[],"serve":[70000]},"ports":[]}}`, "serve"},
	} {
		e := s.command(strings.Replace(good, c.from, c.to, 1), []string{lnk(), "sandbox", "wrap"})
		if e.status != 2 || e.out != "" || strings.Count(e.errors, "\n") != 1 || !strings.Contains(e.errors, c.says) {
			t.Errorf("%s: status %d, out %q, errors %q: want 2 and one line with %q", c.to, e.status, e.out, e.errors, c.says)
		}
	}
}

// Nothing runs unasked.
func TestRunAsksOrIsRefused(t *testing.T) {
	s := newSandbox(t)
	e := s.command("y\n", []string{lnk(), "sandbox", "run", "--", "touch", "started"})
	if e.status != 125 || !strings.Contains(e.errors, "--yes") {
		t.Errorf("status %d: %q", e.status, e.errors)
	}
	if _, err := os.Stat(filepath.Join(s.project, "started")); err == nil {
		t.Error("it was started")
	}
}

// A machine that cannot do it is told in one line, with what to do; the
// program is not run in a weaker way.
func TestMachineThatCannot(t *testing.T) {
	s := newSandbox(t)
	wrapped := func(net any, flags ...string) string {
		t.Helper()
		request, err := json.Marshal(map[string]any{"confinement": s.confinement(net), "argv": []string{"touch", s.project + "/started"}})
		if err != nil {
			t.Fatal(err)
		}
		made := s.command(string(request), append([]string{lnk(), "sandbox", "wrap"}, flags...))
		var w struct{ Argv []string }
		if err := json.Unmarshal([]byte(made.out), &w); err != nil {
			t.Fatalf("%q: %v", made.out, err)
		}
		return strings.Join(w.Argv, " ")
	}
	// A view of this machine that lacks bubblewrap, but for the one that makes it.
	bare := "bwrap --dev-bind / / --tmpfs /usr/bin --ro-bind /usr/bin/touch /usr/bin/touch --ro-bind /usr/bin/dash /usr/bin/sh --ro-bind \"$(realpath /usr/bin/python3)\" /usr/bin/python3 -- "
	// A user namespace in which no other can be made.
	shut := `unshare --user --map-root-user sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"' `
	for name, c := range map[string]struct{ line, says string }{
		"run without bubblewrap":           {bare + lnk() + " sandbox run --yes --bubblewrap --write " + s.project + " -- touch started", "bubblewrap"},
		"wrap's command without it":        {bare + wrapped("closed", "--bubblewrap"), "bubblewrap"},
		"the proxied one":                  {bare + wrapped(s.proxied(), "--bubblewrap"), "bubblewrap"},
		"an old kernel without it":         {bare + oldKernel + wrapped("closed"), "; it takes Linux 5.12 or later, or bubblewrap 0.6 or later"},
		"run without user namespaces":      {shut + lnk() + " sandbox run --yes --write " + s.project + " -- touch started", "namespace"},
		"wrap's command without them":      {shut + wrapped("closed"), "namespace"},
		"the proxied one without them":     {shut + wrapped(s.proxied()), "namespace"},
		"run with the proxy, without them": {shut + lnk() + " sandbox run --yes --write " + s.project + " --internet-host a.test -- touch started", "namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			e := s.command("", []string{"sh", "-c", c.line})
			if e.status != 125 || !strings.Contains(e.errors, c.says) || !strings.Contains(e.errors, "lnk sandbox run: ") {
				t.Errorf("status %d, want 125 and a line with %q: %q", e.status, c.says, e.errors)
			}
			if lines := strings.Count(e.errors, "\n"); lines != 1 && !strings.Contains(e.errors, "installing") {
				t.Errorf("want one line: %q", e.errors)
			}
			if _, err := os.Stat(filepath.Join(s.project, "started")); err == nil {
				t.Error("the program was run")
			}
			if left := listing(t, s.project); strings.Count(left, "\n") != 1 {
				t.Errorf("left in the project: %s", left)
			}
		})
	}
}

// A command that is not there is one line and status 2, and help is as people
// type it.
func TestCommandThatIsNot(t *testing.T) {
	s := newSandbox(t)
	e := s.command("", []string{lnk(), "sandbox", "rnu", "--", "true"})
	if want := "lnk sandbox: \"rnu\": no such command: `lnk sandbox help` lists them\n"; e.status != 2 || e.errors != want || e.out != "" {
		t.Errorf("status %d, out %q, errors %q", e.status, e.out, e.errors)
	}
	if e := s.command("", []string{lnk(), "sandbox", "run", "--help"}); e.status != 0 || !strings.Contains(e.out, "  lnk sandbox run [flags] -- <program>") {
		t.Errorf("status %d, out %q, errors %q", e.status, e.out, e.errors)
	}
}
