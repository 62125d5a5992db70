package cli

import (
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// That there are too many names is told once, whichever of them it is.
func TestTooManyNamesAreToldOnce(t *testing.T) {
	var out strings.Builder
	w := &way{told: newTeller(&out, proxyFlags{Tell: true})}
	w.full("a.test")
	w.full("b.test")
	if got := out.String(); got != "lnk sandbox run: refused more names: 16384 were asked for within an hour, and each has an address of its own; by its proxy variables a program needs none\n" {
		t.Errorf("told %q", got)
	}
}

// A record that no name has here is told with what to do without: the host's
// address would open nothing. Programs that go on to ask for it are told that.
func TestRecordsAreToldWithoutWhatDoesNotOpenThem(t *testing.T) {
	j, err := judge.New(judge.Rules{Hosts: []string{"allowed.test"}}, judge.Machine())
	if err != nil {
		t.Fatal(err)
	}
	const none = "names have addresses in a sandbox, and no "
	for _, c := range []struct{ name, kind, told string }{
		{"allowed.test", "TXT", "TXT of allowed.test: " + none + "TXT"},
		{"other.test", "MX", "MX of other.test: " + none + "MX"},
		{"_mongodb._tcp.allowed.test", "SRV", "SRV of _mongodb._tcp.allowed.test: " + none + "SRV: give it an address that begins with mongodb:// and names each server, and --tcp <server>:27017 for each"},
		{"_ldap._tcp.dc._msdcs.other.test", "SRV", "SRV of _ldap._tcp.dc._msdcs.other.test: " + none + "SRV: give it a server's own name, and --tcp <server>:389"},
		{"_http._tcp.other.test", "SRV", "other.test: no rule names this host; to open it: --internet-host other.test, or --tcp other.test:<port> for what is neither http nor https"},
		{"_grpc_config.allowed.test", "TXT", ""},
		{"-.test", "MX", "-.test: not a name: a label that starts or ends with a hyphen"},
	} {
		var out strings.Builder
		w := &way{judge: j, told: newTeller(&out, proxyFlags{Tell: true}), owner: newOwner(t.TempDir(), "web", func(string) {})}
		allowed := w.records(c.name, c.kind)
		w.owner.close()
		if told := strings.TrimPrefix(strings.TrimSuffix(out.String(), "\n"), "lnk sandbox run: refused "); told != c.told || allowed != (c.name == "allowed.test") {
			t.Errorf("%s of %s: %v, told %q", c.kind, c.name, allowed, told)
		}
	}
}
