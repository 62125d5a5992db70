package cli_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// Where the owner's programs go by a proxy and the sandbox does not, a call
// that comes to nothing says so, once, and without what the variable holds.
func TestFailedCallsTellOfTheProxy(t *testing.T) {
	s := newSandbox(t)
	ask := "for host in nowhere.test never.test; do curl -s http://$host/; done; curl -sS http://" + labtest.AllowedName + "/hello"
	run := func(env ...string) string {
		e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project, allow, "--internet-host=nowhere.test", "--internet-host=never.test", "--", "sh", "-c", ask}, env...)
		if e.status != 0 || !strings.Contains(e.out, "hello from") {
			t.Fatalf("status %d, out %q, errors %q", e.status, e.out, e.errors)
		}
		return e.errors
	}
	const hint = "lnk sandbox run: nowhere.test could not be reached, and HTTPS_PROXY of your environment names a proxy"
	if said := run("HTTPS_PROXY=http://user:hunter2@192.0.2.1:3128"); strings.Count(said, "names a proxy") != 1 || !strings.Contains(said, hint) || strings.Contains(said, "hunter2") {
		t.Errorf("said %q", said)
	}
	if said := run(); strings.Contains(said, "names a proxy") {
		t.Errorf("without one: said %q", said)
	}
}

// What is wrong with an upstream is told, each kind once, and stands in the log:
// a program that knows of no proxy finds its connection closed.
func TestUpstreamFailuresAreTold(t *testing.T) {
	up, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Proxy-Authenticate", "Negotiate")
		w.WriteHeader(http.StatusProxyAuthRequired)
	})}
	go server.Serve(up)
	defer server.Close()
	s := newSandbox(t)
	at := labtest.AllowedName + ":7777"
	spec := filepath.Join(s.home, "spec.toml")
	text := "name = \"up\"\n[files]\nwrite = [\"" + s.project + "\"]\n[network]\nmode = \"proxied\"\nupstream = \"http://user:hunter2@" + up.Addr().String() + "\"\ntcp = [\"" + at + "\"]\n"
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := "for n in 1 2 3; do curl -s telnet://" + at + " </dev/null; done; true"
	e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--spec", spec, "--", "sh", "-c", ask})
	const want = "the upstream proxy wants to be signed in to by Negotiate"
	if e.status != 0 || strings.Count(e.errors, at+" could not be reached: "+want) != 1 || strings.Contains(e.errors, "hunter2") {
		t.Errorf("status %d, errors %q", e.status, e.errors)
	}
	logged := s.command("", []string{lnk(), "sandbox", "log"})
	if strings.Count(logged.out, "failed   "+at+" (transparent): "+want) < 3 || strings.Contains(logged.out, "hunter2") {
		t.Errorf("the log: %q", logged.out)
	}
}
