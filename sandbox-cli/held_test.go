package cli_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// The rules' answer is not the whole of it while sandboxes are held: why says
// so, of those that run.
func TestWhySaysWhatIsHeld(t *testing.T) {
	s := newSandbox(t)
	why := func(want string) {
		t.Helper()
		for _, c := range []struct {
			args   []string
			status int
			out    string
		}{{[]string{"--internet-host=a.example", "a.example"}, 0, "open  "}, {[]string{"a.example"}, 1, "refused  "}} {
			e := s.lnk(append([]string{"why"}, c.args...)...)
			if e.status != c.status || !strings.HasPrefix(e.out, c.out) || strings.Count(e.out, "\n") != 1 || want == "" && e.errors != "" || !strings.Contains(e.errors, want) || strings.Count(e.errors, "\n") > 1 {
				t.Errorf("%q: %+v, want %q", c.args, e, want)
			}
		}
		if e := s.lnk("why", "--write="+s.project, s.project); e.status != 0 || e.errors != "" {
			t.Errorf("of a path: %+v", e)
		}
	}
	s.well("pause", "gone")
	why("")
	k := s.talkToEcho()
	name := "run-" + strconv.Itoa(k.cmd.Process.Pid)
	s.well("pause", name)
	why("just now " + name + " is paused, and reaches nothing; to go on: lnk sandbox resume " + name)
	s.well("stop")
	why("just now every wire is stopped, and nothing is reached; to open them again: lnk sandbox start")
	s.well("start")
	s.well("resume", name)
	why("")
	if err := os.RemoveAll(s.home + "/.lnk/sandbox/wires"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.home+"/.lnk/sandbox/wires", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	why("which counts as a stop")
}

// A served port carries bytes like any call, is reset while the sandbox is
// paused, and who runs it is told what opens it again.
func TestServedPortIsCountedAndHeld(t *testing.T) {
	s := newSandbox(t)
	port := freePort(t)
	s.put("server.py", server)
	s.put("big.txt", strings.Repeat("a", 100_000))
	said, err := os.Create(s.root + "/said")
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	r := s.begin([]string{"sh", "-c", `exec "$@" 2>` + said.Name(), "sh", lnk(), "sandbox", "run", "--yes", "--write=.", "--serve=" + strconv.Itoa(port), "--", "/usr/bin/python3", "-u", "server.py", strconv.Itoa(port)})
	name := "run-" + strconv.Itoa(r.cmd.Process.Pid)
	if text, err := fetch("127.0.0.1", port, "/big.txt"); err != nil || len(text) != 100_000 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	eventually(t, func() error {
		if out := s.well("traffic"); !strings.Contains(out, name+"  97.") && !strings.Contains(out, name+"  98.") {
			return &notYet{out}
		}
		return nil
	})
	s.well("pause", name, "--why", "lunch")
	if _, err := fetch("127.0.0.1", port, "/"); err == nil || !strings.Contains(err.Error(), "reset") && !strings.Contains(err.Error(), "EOF") {
		t.Errorf("while it is paused: %v", err)
	}
	eventually(t, func() error {
		b, _ := os.ReadFile(said.Name())
		if !strings.Contains(string(b), "lnk sandbox run: refused this machine's calls of its port "+strconv.Itoa(port)+": this sandbox's wire is paused: lunch; to go on: lnk sandbox resume "+name+"\n") {
			return &notYet{string(b)}
		}
		return nil
	})
	s.well("resume", name)
	if _, err := fetch("127.0.0.1", port, "/"); err != nil {
		t.Error(err)
	}
	r.end(t)
}

// A notYet is what was found instead.
type notYet struct{ found string }

func (n *notYet) Error() string { return "found " + strconv.Quote(n.found) }
