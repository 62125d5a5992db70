package cli_test

import (
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
