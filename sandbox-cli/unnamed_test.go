package cli_test

import (
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// A call of an address that no rule names is refused before it is made, and
// told all the same, with what opens it: once, and in the log each time.
func TestCallsOfUnnamedAddressesAreTold(t *testing.T) {
	s := newSandbox(t)
	for how, more := range map[string][]string{"": nil, "by bubblewrap": {"--bubblewrap"}} {
		e := s.run(append(append([]string{"--write=" + s.project, allow}, more...), "--", "sh", "-c", strings.Join([]string{
			"curl -sS --noproxy '*' http://" + labtest.OtherAddr + ":8080/",
			"curl -sS --noproxy '*' http://" + labtest.OtherAddr + ":8080/",
			"curl -sS --noproxy '*' http://10.1.2.3:81/",
			"curl -sS --noproxy '*' http://169.254.169.254/latest",
			"curl -sS --noproxy '*' http://127.0.0.1:9/",
			"for to in " + labtest.OtherAddr + "/8080 " + labtest.OtherAddr + "/123 " + labtest.OtherAddr + "/443; do :",
			"bash -c '(echo > /dev/udp/'$to') 2>/dev/null; echo > /dev/udp/'$to",
			"done",
		}, "; "))...)
		for _, want := range []string{
			"refused " + labtest.OtherAddr + ":8080: no rule names this host; to open it: --tcp " + labtest.OtherAddr + ":8080\n",
			"refused 10.1.2.3:81: no rule names this host; to open it: --tcp 10.1.2.3:81\n",
			"refused 169.254.169.254:80: a cloud's metadata address\n",
		} {
			if strings.Count(e.errors, want) != 1 {
				t.Errorf("%s: told %d times: %s\nof %s", how, strings.Count(e.errors, want), want, e.errors)
			}
		}
		for to, want := range map[string]int{":8080": 1, ":123": 1, ":443": 0} {
			if n := strings.Count(e.errors, "refused udp "+labtest.OtherAddr+to+": UDP, which is not carried"); n != want {
				t.Errorf("%s: UDP to %s is told %d times: %s", how, to, n, e.errors)
			}
		}
		if strings.Contains(e.errors, "127.0.0.1:9:") {
			t.Errorf("%s: the program's own loopback is told of: %s", how, e.errors)
		}
	}
	if n := strings.Count(s.well("log"), "refused  "+labtest.OtherAddr+":8080 (transparent): no rule names this host; to open it: tcp = ["); n != 4 {
		t.Errorf("%d lines in\n%s", n, s.well("log"))
	}
	if n := strings.Count(s.well("log"), "refused  "+labtest.OtherAddr+":443 (udp): UDP, which is not carried: HTTP/3 goes on over TCP"); n != 2 {
		t.Errorf("%d lines of UDP in\n%s", n, s.well("log"))
	}
}

// A port that no rule opens is closed to whoever connects by himself, and told by
// the name that he called.
func TestPortsThatNoRuleOpensAreClosed(t *testing.T) {
	s := newSandbox(t)
	for how, more := range map[string][]string{"": nil, "by bubblewrap": {"--bubblewrap"}} {
		e := s.run(append(append([]string{"--write=" + s.project, allow}, more...), "--", "sh", "-c",
			"for by in -4 -6; do curl -sS $by --noproxy '*' http://"+labtest.AllowedName+":22/; echo status $?; done")...)
		if e.out != "status 7\nstatus 7\n" {
			t.Errorf("%s: %q: %s", how, e.out, e.errors)
		}
		if want := "refused " + labtest.AllowedName + ":22: no rule opens this host at this port; to open it: --tcp " + labtest.AllowedName + ":22\n"; strings.Count(e.errors, want) != 1 {
			t.Errorf("%s: not told once: %s", how, e.errors)
		}
	}
}
