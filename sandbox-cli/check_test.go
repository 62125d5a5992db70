package cli_test

import (
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// words gives the word of each line of a check by its probe.
func words(t *testing.T, out string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(line, " ")
		probe, detail, ok := strings.Cut(rest, ": ")
		if !ok || detail == "" {
			t.Errorf("no line of a check: %q", line)
		}
		all[probe] = word
	}
	return all
}

// expect holds a check to what it must find; what must be blocked and is not
// named is blocked or, where it cannot be tried here, missed.
func expect(t *testing.T, e ended, want map[string]string) {
	t.Helper()
	got := words(t, e.out)
	if e.status != 0 || len(got) < 25 {
		t.Fatalf("%d, %d lines: %s %s", e.status, len(got), e.out, e.errors)
	}
	for probe, word := range got {
		w, named := want[probe]
		switch {
		case named && w != word, !named && word != "blocked" && word != "missed":
			t.Errorf("%s %s, want %q: %s", word, probe, w, e.out)
		}
	}
	for probe := range want {
		if got[probe] == "" {
			t.Errorf("nothing tried: %s", probe)
		}
	}
}

func TestCheckOfTheCurrentFolder(t *testing.T) {
	s := newSandbox(t)
	before, _ := os.ReadDir(s.project)
	e := s.command("", []string{lnk(), "sandbox", "check"})
	expect(t, e, map[string]string{
		"write " + s.project: "allowed", "execute a program that it made": "allowed", "execute a program from memory": "allowed",
		"read a file of lnk's settings": "blocked", "read a file in the home folder": "blocked", "write " + s.project + "/.git": "blocked",
		"see a process of this machine": "blocked", "call a socket in a written folder": "blocked", "call an abstract socket": "blocked",
		"call a port of this machine's loopback that is not named": "blocked",
	})
	if after, _ := os.ReadDir(s.project); len(after) != len(before) {
		t.Errorf("%v, before %v", after, before)
	}
}

// A policy, as wrap takes it: proxied, with commands named.
func TestCheckPolicy(t *testing.T) {
	s := newSandbox(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	secret := filepath.Join(s.project, "deep", "er", "secret")
	s.put("deep/er/secret", "hush")
	policy := `{"confinement":{"name":"web","write":["` + s.project + `"],"read":[],"hide":["` + secret + `"],"commands":{"only":["/usr/bin/env"]},"net":{"proxied":{"proxy":{"upstream":"direct","dir":"` +
		filepath.Join(s.root, "way") + `","hosts":["nobody.invalid"]},"ports":[` + port + `]}}}}`
	expect(t, s.command(policy, []string{lnk(), "sandbox", "check", "--policy"}), map[string]string{
		"write " + s.project: "allowed", "hide " + secret: "blocked", "move " + filepath.Dir(secret): "blocked", "move " + s.project + "/deep": "blocked", "execute a program that it made": "blocked",
		"call port " + port + " of this machine's loopback": "allowed", "call nobody.invalid:443": "failed",
		"ask the proxy for this machine's loopback": "blocked", "ask the proxy for a host that is not named": "blocked",
	})
	for _, no := range []struct{ policy, want string }{
		{`{"unwalled":{"name":"web","proxy":{"upstream":"direct","dir":"/x"},"pointed":true}}`, "/unwalled"},
		{`{"policy":{}}`, "/policy"},
		{`{"confinement":{"name":"web","write":[],"read":[],"commands":"any","net":"closed"},"argv":["true"]}`, "/argv"},
		{`{"confinement":{"name":"web","write":["/none/such"],"read":[],"commands":"any","net":"closed"}}`, "/none/such"},
		{strings.Replace(policy, `"hosts"`, `"hold":true,"hosts"`, 1), "/confinement/net/proxied/"},
		{``, ""},
	} {
		if e := s.command(no.policy, []string{lnk(), "sandbox", "check", "--policy"}); e.status == 0 || e.status == 1 || e.out != "" || !strings.Contains(e.errors, no.want) || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%s: %d %q %q", no.policy, e.status, e.out, e.errors)
		}
	}
	if e := s.command("", []string{lnk(), "sandbox", "check", "--policy", "--write=."}); e.status != 2 {
		t.Errorf("%d %s", e.status, e.errors)
	}
}

// What a sandbox of the same name was wrapped with stays, and nothing more does.
func TestCheckLeavesWhatWasWrapped(t *testing.T) {
	s := newSandbox(t)
	confinement := `"confinement":{"name":"web","write":["` + s.project + `"],"read":[],"commands":"any","net":{"proxied":{"proxy":{"upstream":"http://u:p@127.0.0.1:9","dir":"` +
		filepath.Join(s.root, "way") + `","hosts":["nobody.invalid"],"routes":[{"name":"m","local_model":{"port":9}}]},"ports":[]}}}`
	if e := s.command(`{`+confinement+`,"argv":["true"]}`, []string{lnk(), "sandbox", "wrap"}); e.status != 0 {
		t.Fatalf("%d %s", e.status, e.errors)
	}
	kept := func() map[string]string {
		all := map[string]string{}
		paths, _ := filepath.Glob(filepath.Join(s.home, ".lnk", "sandbox", "*.*"))
		for _, path := range paths {
			if ext := filepath.Ext(path); ext == ".upstream" || ext == ".url-secret" || strings.HasSuffix(path, ".routes.json") {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				all[path] = string(text)
			}
		}
		return all
	}
	before := kept()
	if len(before) < 2 {
		t.Fatalf("wrap kept %v: then this test cannot tell", before)
	}
	if e := s.command(`{`+confinement+`}`, []string{lnk(), "sandbox", "check", "--policy"}); e.status != 0 {
		t.Errorf("%d %s %s", e.status, e.out, e.errors)
	}
	if logs, _ := filepath.Glob(filepath.Join(s.home, ".lnk", "sandbox", "*", "check-*")); len(logs) > 0 {
		t.Errorf("left behind: %q", logs)
	}
	if after := kept(); !maps.Equal(before, after) {
		t.Errorf("%v\nand after the check\n%v", before, after)
	}
}

// A check that is ended by a signal takes along what it made, too.
func TestCheckEnded(t *testing.T) {
	s := newSandbox(t)
	upstream, err := net.Listen("tcp", "127.0.0.1:0") // which answers nobody
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	called := make(chan net.Conn, 64)
	go func() {
		for {
			c, err := upstream.Accept()
			if err != nil {
				return
			}
			called <- c // and stays open
		}
	}()
	policy := `{"confinement":{"name":"web","write":["` + s.project + `"],"read":[],"commands":"any","net":{"proxied":{"proxy":{"upstream":"http://` + upstream.Addr().String() + `","dir":"` +
		filepath.Join(s.root, "way") + `","hosts":["host.example"],"routes":[{"name":"m","local_model":{"port":9}}]},"ports":[]}}}}`
	cmd := exec.Command(lnk(), "sandbox", "check", "--policy")
	cmd.Dir, cmd.Env, cmd.Stdin = s.project, s.env(), strings.NewReader(policy)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	select {
	case c := <-called:
		defer c.Close()
	case <-time.After(hangGuard):
		t.Fatal("the host was not called")
	}
	made := func() []string {
		all, _ := filepath.Glob(filepath.Join(s.home, ".lnk", "sandbox", "check-*"))
		logs, _ := filepath.Glob(filepath.Join(s.home, ".lnk", "sandbox", "log", "check-*"))
		return append(all, logs...)
	}
	if len(made()) == 0 {
		t.Error("it made nothing: then this test cannot tell")
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err == nil {
		t.Error("it came to its end")
	}
	if left := made(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A spec, with this machine's network as it is: what it leaves is open.
func TestCheckSpec(t *testing.T) {
	s := newSandbox(t)
	spec := s.put("sandbox.toml", "name = \"web\"\n[files]\nwrite = [\".\"]\n[network]\nmode = \"host\"\nlocalhost = true\n")
	e := s.command("", []string{lnk(), "sandbox", "check", "--spec", spec})
	got := words(t, e.out)
	if e.status != 0 || got["call a port of this machine's loopback that is not named"] != "open" || got["call this machine's own address"] != "open" || got["read a file in the home folder"] != "blocked" {
		t.Errorf("%d %s %s", e.status, e.out, e.errors)
	}
}
