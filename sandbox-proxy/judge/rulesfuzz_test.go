package judge_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// FuzzRules: a rule that is taken opens what it says and nothing else: the name
// itself or what ends in a dot and it, at 80 and 443 or at its port.
func FuzzRules(f *testing.F) {
	for _, s := range []string{"ok.test", "*.ok.test", "ok.test:8443", "*.ok.test:8443", "192.0.2.1", "[2001:db8::1]:8443", "*", "*ok.test", "OK.test", "ok.test.", "a..b", "bücher.test", "127.1", "*.test"} {
		for _, host := range []string{"ok.test", "a.ok.test", "notok.test", "192.0.2.1", "ok.test.evil.test"} {
			f.Add(s, host, uint16(443))
		}
	}
	f.Fuzz(func(t *testing.T, entry, host string, port uint16) {
		m := &machine{}
		j, err := judge.New(judge.Rules{Hosts: []string{entry}}, m.system())
		if err != nil {
			return
		}
		d := j.Rule(judge.Call{By: judge.ByConnect, Host: host, Port: port})
		if !d.Allowed {
			return
		}
		entry = judge.Written(entry)
		name, at := entry, ""
		if i := strings.LastIndexByte(entry, ':'); i > strings.LastIndexByte(entry, ']') {
			name, at = entry[:i], entry[i+1:]
		}
		if at == "" && port != 80 && port != 443 || at != "" && at != strconv.Itoa(int(port)) {
			t.Fatalf("%q opens %s", entry, d.Target())
		}
		if above, wild := strings.CutPrefix(name, "*"); wild {
			if !strings.HasPrefix(above, ".") || !strings.HasSuffix(d.Host, above) || d.Host == above || d.Literal {
				t.Fatalf("%q opens %s", entry, d.Target())
			}
		} else if d.Host != name {
			t.Fatalf("%q opens %s", entry, d.Target())
		}
	})
}
