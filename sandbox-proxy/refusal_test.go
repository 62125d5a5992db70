package proxy_test

import (
	"fmt"
	"strings"
	"testing"
)

// What a refused request held beside its host is told to nobody: it may be a
// password, a route's secret or a query.
func TestRefusalsHoldNoSecrets(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	for _, head := range []string{
		"GET http://user:s3cret@ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n",
		"GET http://ok.test/?token=s3cret HTTP/1.1\r\nHost: other.test\r\n\r\n",
		"GET http://ok.test/s3cret HTTP/1.1\r\nHost: other.test\r\n\r\n",
		"GET /s3cret/tool/gh HTTP/1.1\r\nHost: ok.test\r\n\r\n",
		"GET https://u:s3cret@ok.test/s3cret HTTP/1.1\r\nHost: ok.test\r\n\r\n",
		"GET ftp://u:s3cret@ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n",
		"CONNECT u:s3cret@ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n",
		"CONNECT ok.test:443/s3cret HTTP/1.1\r\nHost: ok.test:443\r\n\r\n",
		"GET http://evil.test/?token=s3cret HTTP/1.1\r\nHost: evil.test\r\nAuthorization: s3cret\r\n\r\n",
	} {
		c := l.client()
		fmt.Fprint(c, head)
		answer := make([]byte, 4096)
		n, _ := c.Read(answer)
		if !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 4") {
			t.Errorf("%q: answered %q", head, answer[:n])
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.refused) == 0 || len(l.ended) != 9 {
		t.Errorf("told of %d refusals and %d decisions", len(l.refused), len(l.ended))
	}
	for _, r := range l.refused {
		if strings.Contains(fmt.Sprintf("%+v", r), "s3cret") {
			t.Errorf("told %+v", r)
		}
	}
	for _, r := range l.ended {
		if strings.Contains(fmt.Sprintf("%+v", r), "s3cret") {
			t.Errorf("logged %+v", r)
		}
	}
}
