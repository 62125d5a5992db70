package cli_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// An officeProxy is a proxy that wants a password, and notes what it is asked.
type officeProxy struct {
	at string

	mu    sync.Mutex
	asked []string
}

func newOfficeProxy(t *testing.T) *officeProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	o := &officeProxy{at: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go o.serve(c)
		}
	}()
	return o
}

func (o *officeProxy) serve(c net.Conn) {
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	o.mu.Lock()
	o.asked = append(o.asked, r.Method+" "+r.RequestURI)
	o.mu.Unlock()
	if r.Header.Get("Proxy-Authorization") != "Basic dXNlcjpzM2NyZXQ=" { // user:s3cret
		io.WriteString(c, "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
		return
	}
	far, err := net.Dial("tcp", net.JoinHostPort(labtest.ServerAddr, strings.TrimPrefix(r.URL.Port(), ":")))
	if err != nil {
		return
	}
	defer far.Close()
	io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	go io.Copy(far, c)
	io.Copy(c, far)
}

func (o *officeProxy) saw() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.asked, "\n")
}

// The proxies that whoever runs a sandbox has set are those that its calls go
// by; the program sees neither them nor their password, and what NO_PROXY names
// goes directly.
func TestSystemUpstream(t *testing.T) {
	s := newSandbox(t)
	ca := s.trusted()
	o := newOfficeProxy(t)
	spec := filepath.Join(s.root, "sandbox.toml")
	text := "name = \"office\"\n[files]\nwrite = [\"" + s.project + "\"]\n[network]\nmode = \"proxied\"\nupstream = \"system\"\nhosts = [\"" + labtest.AllowedName + "\", \"x.wild.test\"]\n"
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(script string, env ...string) ended {
		return s.command("", []string{lnk(), "sandbox", "run", "--yes", "--spec=" + spec, "--", "sh", "-c", script}, env...)
	}
	both := "curl -sS --cacert " + ca + " https://" + labtest.AllowedName + "/hello; curl -sS --noproxy '*' --cacert " + ca + " https://x.wild.test/hello; env"
	want := "hello from allowed.test\nhello from x.wild.test\n"
	e := run(both, "https_proxy=http://user:s3cret@"+o.at, "NO_PROXY=.wild.test")
	if !strings.HasPrefix(e.out, want) || strings.Contains(e.out, "s3cret") || strings.Contains(e.out, o.at) {
		t.Errorf("by a proxy: %+v", e)
	}
	if saw := o.saw(); saw != "CONNECT allowed.test:443" {
		t.Errorf("the proxy saw %q", saw)
	}
	if e := run(both); !strings.HasPrefix(e.out, want) {
		t.Errorf("with none set: %+v", e)
	}
	e = run("curl -sS --cacert "+ca+" https://"+labtest.AllowedName+"/hello", "HTTPS_PROXY=http://user:wrong@"+o.at)
	if e.status == 0 || !strings.Contains(e.errors, "502") || strings.Contains(e.errors, "407") && !strings.Contains(e.errors, "upstream") {
		t.Errorf("its 407 is told as ours: %+v", e)
	}
	if e := run("true", "HTTPS_PROXY=gopher://x"); e.status != 125 || strings.Count(e.errors, "\n") != 1 {
		t.Errorf("one that is none: %+v", e)
	}
	left, err := filepath.Glob(filepath.Join(s.home, ".lnk", "sandbox", "*.upstream"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
