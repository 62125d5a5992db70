package judge_test

import (
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A port of FTP's for data is another one at the next transfer: what would open
// it is not told.
func TestFTPTakesAnotherPort(t *testing.T) {
	j := newJudge(t, judge.Rules{Hosts: []string{"ok.test"}, TCP: []string{"ftp.test:21", "10.9.9.9:21"}}, &machine{})
	for _, c := range []struct {
		host string
		port uint16
		open string
	}{
		{"ftp.test", 40000, ""},
		{"ftp.test", 1024, ""},
		{"10.9.9.9", 40000, ""},
		{"ftp.test", 22, `tcp = ["ftp.test:22"] or --tcp ftp.test:22`},
		{"ok.test", 40000, `tcp = ["ok.test:40000"] or --tcp ok.test:40000`},
		{"other.test", 40000, `tcp = ["other.test:40000"] or --tcp other.test:40000`},
	} {
		d := j.Rule(judge.Call{By: judge.BySOCKS, Host: c.host, Port: c.port})
		if d.Allowed || d.Open.String() != c.open || strings.Contains(d.Detail, "FTP") != (c.open == "") || strings.HasSuffix(d.Detail, ": use sftp or https, where the server has it") != (c.open == "") {
			t.Errorf("%s:%d: %v, %s; to open it: %s", c.host, c.port, d.Allowed, d.Detail, d.Open)
		}
	}
	if d := j.Rule(judge.Call{By: judge.BySOCKS, Host: "ftp.test", Port: 21}); !d.Allowed {
		t.Errorf("ftp.test:21: %s", d.Detail)
	}
}
