package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tool adds a tool that runs a script of this test, outside.
func (s *sandbox) tool(name, script string, flags ...string) {
	s.t.Helper()
	path := filepath.Join(s.root, name+".sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	argv := append([]string{lnk(), "sandbox", "tool", "add", name}, flags...)
	if e := s.command("", append(argv, "--", path)); e.status != 0 {
		s.t.Fatalf("tool add: %s", e.errors)
	}
}

const never = "--ask=none"

// A call of a tool is the tool's: words, input, output, errors, status, signal.
func TestToolCall(t *testing.T) {
	s := newSandbox(t)
	s.tool("fake", `for a; do printf '<%s>' "$a"; done; echo; cat; echo to-err >&2; exit 7`, never)
	e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--tool=fake", "--", "sh", "-c",
		`printf 'in\000put' | fake a 'b c' '' '--help; rm -rf /' '$(id)' "$(printf 'two\nlines')" "$(printf '\377')"; echo "status $?"`})
	want := "<a><b c><><--help; rm -rf /><$(id)><two\nlines><\xff>\nin\x00putstatus 7\n"
	if e.status != 0 || e.out != want || e.errors != "to-err\n" {
		t.Errorf("status %d, out %q, errors %q", e.status, e.out, e.errors)
	}
	// As the program itself, and a signal that ended the tool.
	s.tool("dies", `kill -TERM $$`, never)
	if e := s.run("--tool=fake", "--", "fake"); e.status != 7 {
		t.Errorf("status %d: %s", e.status, e.errors)
	}
	if e := s.run("--tool=dies", "--", "sh", "-c", "dies; echo $?"); e.out != "143\n" {
		t.Errorf("%q %s", e.out, e.errors)
	}
}

// Which of our programs makes the call is which there is, the smallest first;
// where commands are named it can be executed too.
func TestToolCaller(t *testing.T) {
	s := newSandbox(t)
	s.tool("fake", `echo outside`, never)
	for _, c := range []struct {
		name  string
		there []string
		leads string
		flags []string
	}{
		{"all of them", []string{"lnk", "lnk-sandbox", "sandbox-wall", "sandbox-call"}, "/run/lnk/sandbox-call", nil},
		{"commands named", []string{"lnk", "lnk-sandbox", "sandbox-wall", "sandbox-call"}, "/run/lnk/sandbox-call", []string{"--only=/usr/bin/sh", "--only=/usr/bin/readlink"}},
		{"no small one", []string{"lnk", "lnk-sandbox"}, "/run/lnk/lnk-sandbox", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(s.root, strings.ReplaceAll(c.name, " ", "-"))
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range c.there {
				b, err := os.ReadFile(filepath.Join(filepath.Dir(lnk()), name))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, name), b, 0o755)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			argv := append([]string{filepath.Join(dir, "lnk"), "sandbox", "run", "--yes", "--tool=fake"}, c.flags...)
			e := s.command("", append(argv, "--", "/usr/bin/sh", "-c", "/usr/bin/readlink /run/lnk/bin/fake; fake"))
			if e.status != 0 || e.out != c.leads+"\noutside\n" {
				t.Errorf("status %d, %q %s", e.status, e.out, e.errors)
			}
		})
	}
}

// The environment, the folder and the user are the host's, whatever is set
// inside; what is written outside is not held by the wall.
func TestToolRunsOutside(t *testing.T) {
	s := newSandbox(t)
	s.tool("where", `pwd -P; echo "$PATH"; echo "$HOME"; env | grep -c -i -e proxy -e evil -e LNK_ -e BASH_ENV; test -r `+s.root+`/where.sh && echo outside`, never)
	e := s.run("--write="+s.project, "--tool=where", "--", "sh", "-c", "mkdir sub; cd sub; export EVIL=evil BASH_ENV=/evil HOME=/evil LD_PRELOAD=/evil; unset LD_PRELOAD; PATH=/run/lnk/bin:$PATH where; cd /tmp; where")
	lines := strings.Split(e.out, "\n")
	if len(lines) != 11 {
		t.Fatalf("%q %s", e.out, e.errors)
	}
	for at, folder := range map[int]string{0: s.project + "/sub", 5: s.project} {
		if lines[at] != folder || strings.Contains(lines[at+1], "/run/lnk") || lines[at+2] != s.home || lines[at+3] != "0" || lines[at+4] != "outside" {
			t.Errorf("%q", lines[at:at+5])
		}
	}
}

// A folder that is a link, or is swapped for one, is not gone to.
func TestToolFolderIsNoWayOut(t *testing.T) {
	s := newSandbox(t)
	secret := filepath.Join(s.root, "secret")
	os.Mkdir(secret, 0o755)
	s.tool("here", `pwd -P`, never)
	say := func(cwd string) string {
		b, _ := json.Marshal(map[string]any{"args": []string{}, "cwd": cwd})
		return fmt.Sprintf("curl -sS -H 'Content-Type: application/json' -d '%s' $LNK_TOOL_HERE; ", b)
	}
	script := "ln -s " + secret + " link; mkdir -p real/deep; " +
		say(s.project+"/link") + say(secret) + say("/") + say(s.project+"/../secret") + say(s.home+"/.lnk") + say(s.project+"/real/deep") +
		"cd real/deep; mv ../../real ../../moved; ln -s " + secret + " ../../real; " + say(s.project+"/real/deep") + say(s.project+"/real")
	e := s.run("--write="+s.project, "--tool=here", "--", "sh", "-c", script)
	want := []string{"", "", "", "", "", "/real/deep", "", ""}
	for i, line := range strings.Split(strings.TrimSpace(e.out), "\n") {
		var answer struct{ Stdout string }
		json.Unmarshal([]byte(line), &answer)
		if i >= len(want) || answer.Stdout != s.project+want[i]+"\n" {
			t.Errorf("%d: %s", i, line)
		}
	}
}

// A program that is no shim calls by HTTP.
func TestToolByCurl(t *testing.T) {
	s := newSandbox(t)
	s.tool("gh", `echo "$# $*"; cat; printf '\377' ; echo oops >&2; exit 3`, never)
	e := s.run("--tool=gh", "--", "sh", "-c", `curl -sS -H 'Content-Type: application/json' -d '{"args":["pr","a b"],"stdin":"x"}' "$LNK_TOOL_GH"; echo
printf body | curl -sS -i --data-binary @- "$LNK_TOOL_GH?arg=pr&arg=a%20b%26"; echo
for no in '{"args":["a\u0000b"]}' '{"args":[],"argv0":"x"}' '{"args":[1]}' 'x'; do curl -sS -o /dev/null -w '%{http_code} ' -H 'Content-Type: application/json' -d "$no" "$LNK_TOOL_GH"; done
curl -sS -o /dev/null -w '%{http_code} ' "$LNK_TOOL_GH"; curl -sS -o /dev/null -w '%{http_code} ' -d x "$LNK_TOOL_GH?env=x"; curl -sS -o /dev/null -w '%{http_code} ' -H 'Origin: http://evil.example' -d x "$LNK_TOOL_GH"
curl -sS -o /dev/null -w '%{http_code}' -d x "$(echo $LNK_TOOL_GH | sed 's/.\/tool/x\/tool/')"`)
	for _, want := range []string{
		`{"status":3,"stdout":"","stdout_base64":"MiBwciBhIGIKeP8=","stderr":"oops\n"}`,
		"HTTP/1.1 200", "\r\n\r\n2 pr a b&\nbody\xff", "Lnk-Status: 3", "Lnk-Stderr: oops%0A",
		"400 400 400 400 405 400 403 404",
	} {
		if !strings.Contains(e.out, want) {
			t.Errorf("want %q in %q %s", want, e.out, e.errors)
		}
	}
}

// The registry: what is added is listed, 0600, and gone once removed.
func TestToolRegistry(t *testing.T) {
	s := newSandbox(t)
	command := func(args ...string) ended { return s.command("", append([]string{lnk(), "sandbox", "tool"}, args...)) }
	if e := command("add", "gh", "--allow", `pr list *`, "--allow", `issue 'view it' \*`, "--", "true", "--flag"); e.status != 0 {
		t.Fatal(e.errors)
	}
	e := command("list", "--json")
	if !strings.HasPrefix(e.out, `{"name":"gh","argv":["/`) || !strings.HasSuffix(e.out, `/true","--flag"],"ask":"all","allow":[["pr","list","*"],["issue","view it","*"]]}`+"\n") {
		t.Errorf("%q", e.out)
	}
	file := filepath.Join(s.home, ".lnk", "sandbox", "tools", "gh.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	for _, no := range [][]string{
		{"add", "../x", "--", "true"}, {"add", "gh", "--ask", "some", "--", "true"}, {"add", "gh"}, {"add", "gh", "true"},
		{"add", "x", "--allow", "'open", "--", "true"}, {"add", "lnk-sandbox", "--", "true"}, {"add", "sandbox-call", "--", "true"},
	} {
		if e := command(no...); e.status != 2 || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%q: %d %s", no, e.status, e.errors)
		}
	}
	if e := command("add", "x", "--", "/no/such/program"); e.status != 1 || !strings.Contains(e.errors, "not found") {
		t.Error(e.status, e.errors)
	}
	// What is not a tool's, strictly: no run takes it for one.
	for _, text := range []string{`{"name":"gh","argv":["/bin/true"],"ask":"none","allow":[],"more":1}`, `{"name":"other","argv":["/bin/true"],"ask":"none","allow":[]}`} {
		os.WriteFile(file, []byte(text), 0o600)
		if e := s.run("--tool=gh", "--", "true"); e.status != 125 || !strings.Contains(e.errors, "gh") {
			t.Errorf("%s: %d %s", text, e.status, e.errors)
		}
		if e := command("list"); e.status != 1 {
			t.Error(e)
		}
	}
	if e := command("remove", "gh"); e.status != 0 {
		t.Error(e.errors)
	}
	if e := command("remove", "gh"); e.status != 1 {
		t.Error(e.errors)
	}
	if e := s.run("--tool=gh", "--", "true"); e.status != 125 || strings.Count(e.errors, "\n") != 1 || !strings.Contains(e.errors, "lnk sandbox tool add") {
		t.Errorf("an unknown tool: %d %q", e.status, e.errors)
	}
	// A tool that the program could replace is none.
	s.put("mine.sh", "#!/bin/sh\n")
	command("add", "mine", "--ask=none", "--", filepath.Join(s.project, "mine.sh"))
	if e := s.run("--write="+s.project, "--tool=mine", "--", "true"); e.status != 125 || !strings.Contains(e.errors, "could replace it") {
		t.Errorf("%d %s", e.status, e.errors)
	}
}

// A call that is asked about waits for an answer, which is for it alone.
func TestToolAsks(t *testing.T) {
	s := newSandbox(t)
	s.tool("gh", `echo "ran $*"`, "--allow=pr list *")
	cmd, errs := s.start(lnk(), "sandbox", "run", "--yes", "--terminal=false", "--tool=gh", "--write="+s.project, "--", "sh", "-c",
		`echo up; gh pr list --all; gh pr "$(printf 'merge\033[31m')"; echo $? >> out; gh pr merge; echo $? >> out; cat`)
	for _, word := range []string{"allow", "deny"} {
		var q struct{ ID, Call, Folder, Name string }
		eventually(t, func() error {
			e := s.command("", []string{lnk(), "sandbox", "asks", "--json"})
			if json.Unmarshal([]byte(e.out), &q) != nil {
				return fmt.Errorf("asks: %q %s; %s", e.out, e.errors, errs.String())
			}
			return nil
		})
		if q.Name != "gh" || q.Folder != s.project || word == "allow" && !strings.HasSuffix(q.Call, `gh.sh pr "merge\x1b[31m"`) {
			t.Errorf("%+v", q)
		}
		if e := s.command("", []string{lnk(), "sandbox", "asks", word, q.ID}); e.status != 0 {
			t.Error(e.errors)
		}
		// An answer is for one question, once.
		if e := s.command("", []string{lnk(), "sandbox", "asks", "allow", q.ID}); e.status != 1 {
			t.Error("answered twice")
		}
	}
	eventually(t, func() error {
		if b, _ := os.ReadFile(s.project + "/out"); string(b) != "0\n126\n" {
			return fmt.Errorf("%q: %s", b, errs.String())
		}
		return nil
	})
	cmd.Process.Signal(syscall.SIGTERM)
	waitFor(t, cmd)
	if !strings.Contains(errs.String(), "gh: the answer was no") || strings.Contains(errs.String(), "\x1b") {
		t.Errorf("%q", errs.String())
	}
	if left, _ := filepath.Glob(filepath.Join(s.home, ".lnk/sandbox/asks/*")); len(left) > 0 {
		t.Error("left:", left)
	}
}

// A caller that is gone, the end of the sandbox, and a kill of the proxy end
// what a tool has started.
func TestToolEnds(t *testing.T) {
	for name, end := range map[string]func(cmd *os.Process, s *sandbox){
		"caller": func(_ *os.Process, s *sandbox) { s.put("go", "") },
		"term":   func(p *os.Process, _ *sandbox) { p.Signal(syscall.SIGTERM) },
		"kill":   func(p *os.Process, _ *sandbox) { p.Kill() },
	} {
		s := newSandbox(t)
		mark := fmt.Sprintf("66%06d", time.Now().UnixNano()%1000000)
		s.tool("long", "trap '' TERM; sleep "+mark+" & echo up; sleep "+mark, never)
		cmd, _ := s.start(lnk(), "sandbox", "run", "--yes", "--tool=long", "--write="+s.project, "--", "sh", "-c",
			`long & p=$!; (while ! [ -e go ]; do sleep 0.05; done; kill -9 $p; echo > gone; exec sleep 50) ; wait`)
		defer cmd.Process.Kill()
		end(cmd.Process, s)
		gone(t, "sleep "+mark)
		cmd.Process.Signal(syscall.SIGTERM)
		waitFor(t, cmd)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// What wrap prints has the tools too, as often as it is started.
func TestToolByWrap(t *testing.T) {
	s := newSandbox(t)
	s.tool("fake", `echo "$1 in $PWD"; exit 5`, never)
	net := s.proxied()
	net["proxied"].(map[string]any)["proxy"].(map[string]any)["routes"] = []any{map[string]any{
		"name": "fake", "secret": true, "tool": map[string]any{"argv": []string{s.root + "/fake.sh"}, "ask": "none", "allow": []any{}},
	}}
	for range 2 {
		if e := s.wrapped(s.confinement(net), "sh", "-c", "type fake; fake hello; exit $?"); e.status != 5 || e.out != "fake is /run/lnk/bin/fake\nhello in "+s.project+"\n" {
			t.Errorf("%d %q %s", e.status, e.out, e.errors)
		}
	}
}

// A page is opened outside once it is allowed, once, and only a page.
func TestOpen(t *testing.T) {
	s := newSandbox(t)
	opener := filepath.Join(s.root, "xdg-open")
	if err := os.WriteFile(opener, []byte("#!/bin/sh\nprintf '<%s>' \"$@\" >> "+s.root+"/opened\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + s.root + ":/usr/bin:/bin"
	for _, no := range []string{"file:///etc/passwd", "javascript:alert(1)", "https://user:pw@example.com/", "--help", "https://example.com/`id`"} {
		if e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--open", "--", "xdg-open", no}, path); e.status == 0 || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%s: %d %s", no, e.status, e.errors)
		}
	}
	script := `echo up; test "$BROWSER" = "$(command -v xdg-open)" || exit 9; $BROWSER 'https://example.com/a?b=c'; echo $? >> out; curl -sS -d 'https://example.com/a?b=c' $LNK_SANDBOX_OPEN >> out; cat`
	cmd, errs := s.start("env", path, lnk(), "sandbox", "run", "--yes", "--terminal=false", "--open", "--write="+s.project, "--", "sh", "-c", script)
	var q struct{ ID, Call, Folder string }
	eventually(t, func() error {
		e := s.command("", []string{lnk(), "sandbox", "asks", "--json"})
		if json.Unmarshal([]byte(e.out), &q) != nil {
			return fmt.Errorf("asks: %q %s; %s", e.out, e.errors, errs.String())
		}
		return nil
	})
	if q.Call != opener+` "https://example.com/a?b=c"` || q.Folder != "" {
		t.Errorf("%+v", q)
	}
	if e := s.command("", []string{lnk(), "sandbox", "asks", "allow", q.ID}); e.status != 0 {
		t.Error(e.errors)
	}
	eventually(t, func() error {
		if b, _ := os.ReadFile(s.project + "/out"); string(b) != "0\nopened\n" {
			return fmt.Errorf("%q: %s", b, errs.String())
		}
		return nil
	})
	if b, _ := os.ReadFile(s.root + "/opened"); string(b) != "<https://example.com/a?b=c>" {
		t.Errorf("%q", b)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	waitFor(t, cmd)
}

// What a tool starts by its name is found nowhere that the program writes: a
// virtual environment of the project, or the folder that the call is in.
func TestToolFindsNothingOfThePrograms(t *testing.T) {
	s := newSandbox(t)
	s.tool("names", `planted || echo not found`, never)
	bin := filepath.Join(s.project, ".venv", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	program := "for at in .venv/bin/planted planted; do printf '#!/bin/sh\\necho owned > " + s.root + "/owned\\n' > $at; chmod +x $at; done; names"
	for _, path := range []string{bin + ":/usr/bin:/bin", ":/usr/bin:/bin", ".:/usr/bin:/bin", "/usr/bin:/bin:" + s.project + "/./.venv/bin"} {
		e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project, "--tool=names", "--", "/bin/sh", "-c", program}, "PATH="+path)
		if e.status != 0 || !strings.Contains(e.out, "not found") {
			t.Errorf("PATH=%s: status %d: %s%s", path, e.status, e.out, e.errors)
		}
		if _, err := os.Stat(filepath.Join(s.root, "owned")); err == nil {
			t.Fatalf("PATH=%s: what the program planted ran outside", path)
		}
	}
}
