package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// A run that learns says that it opens, reaches the internet and nothing
// private, and what it prints is a spec that does the same and no more.
func TestLearn(t *testing.T) {
	s := newSandbox(t)
	ca := s.trusted()
	s.put("echo.py", "import socket, sys\ns = socket.create_connection((sys.argv[1], 7777), 20); s.sendall(b'ping'); s.shutdown(1); print(s.recv(100).decode())\n")
	script := strings.Join([]string{
		"curl -sS --cacert " + ca + " https://" + labtest.AllowedName + "/hello",
		"curl -sS --noproxy '*' --cacert " + ca + " https://x.wild.test/hello",
		"curl -sS http://" + labtest.OtherName + "/hello",
		"/usr/bin/python3 echo.py " + labtest.AllowedName,
		"curl -sSk --max-time 20 https://" + labtest.LANName + "/ || curl -sSk --noproxy '*' https://" + labtest.LANAddr + "/ || echo closed",
	}, "; ")
	e := s.run("--write="+s.project, "--learn", "--", "sh", "-c", script)
	if want := "hello from allowed.test\nhello from x.wild.test\nhello from other.test\nping\nclosed\n"; e.status != 0 || e.out != want {
		t.Fatalf("%+v", e)
	}
	if !strings.HasPrefix(e.errors, "lnk sandbox run: --learn: this run may call every host of the internet") {
		t.Errorf("it does not say first that it opens: %s", e.errors)
	}
	_, spec, ok := strings.Cut(e.errors, "would allow what was called:\n")
	if want := "[network]\nmode = \"proxied\"\nhosts = [\"allowed.test\", \"other.test\", \"x.wild.test\"]\ntcp = [\"allowed.test:7777\"]\n"; !ok || spec != want {
		t.Fatalf("printed %q, want %q", spec, want)
	}
	path := filepath.Join(s.root, "learned.toml")
	if err := os.WriteFile(path, []byte("name = \"learned\"\n[files]\nwrite = [\""+s.project+"\"]\n"+spec), 0o600); err != nil {
		t.Fatal(err)
	}
	again := s.run("--spec="+path, "--", "sh", "-c", script)
	if again.status != 0 || again.out != e.out {
		t.Errorf("by what was learned: %+v", again)
	}
	if out := s.run("--spec="+path, "--", "curl", "-sS", "--max-time", "20", "http://y.wild.test/hello"); strings.Contains(out.out, "hello from") {
		t.Error("what was learned reaches more than was called")
	}
}

// Learning undoes no word that closes, and learns nothing of nothing.
func TestLearnRefuses(t *testing.T) {
	s := newSandbox(t)
	for _, network := range []string{"mode = \"proxied\"\nno_internet = true\n", "mode = \"loopback\"\nports = [5432]\n", "mode = \"host\"\n"} {
		path := filepath.Join(s.root, "sandbox.toml")
		if err := os.WriteFile(path, []byte("[files]\nwrite = [\""+s.project+"\"]\n[network]\n"+network), 0o600); err != nil {
			t.Fatal(err)
		}
		if e := s.run("--spec="+path, "--learn", "--", "true"); e.status != 125 || strings.Count(e.errors, "\n") != 1 || !strings.Contains(e.errors, "--learn: ") {
			t.Errorf("%q: %+v", network, e)
		}
	}
	if e := s.run("--learn", "--", "true"); e.status != 0 || !strings.Contains(e.errors, "no host was called") {
		t.Errorf("%+v", e)
	}
}
