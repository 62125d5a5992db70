package cli_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// What a host says unasked is nobody's answer, and stands on no terminal.
func TestHostsWriteNothingToTheTerminal(t *testing.T) {
	s := newSandbox(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\nsurprise")
			}
			go func() { io.Copy(io.Discard, c); c.Close() }()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	e := s.run("--write="+s.project, "--port="+port, "--", "sh", "-c", "curl -sS --noproxy '' --proxy http://127.0.0.1:19190 http://127.0.0.1:"+port+"/; sleep 0.2")
	if e.status != 0 || e.out != "hi" || strings.Contains(e.errors, "surprise") {
		t.Errorf("status %d, out %q, errors %q", e.status, e.out, e.errors)
	}
}
