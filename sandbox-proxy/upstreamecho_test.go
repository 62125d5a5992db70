package proxy_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// An upstream that answers with what it was sent tells the program nothing of
// its user and password.
func TestUpstreamEcho(t *testing.T) {
	ln := listen(t)
	methods := make(chan string, 100)
	serveConns(t, ln, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			methods <- req.Method
			auth := req.Header.Get("Proxy-Authorization")
			page := strings.Repeat("a page of HTML & more+than/that==\r\n", 3000) + "Proxy-Authorization: " + auth + "\r\n" +
				"mailto:x?body=" + url.QueryEscape(auth) + " " + url.PathEscape("Proxy-Authorization: "+auth) + strings.ReplaceAll(auth, "=", "&#61;") + "\r\n"
			io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nX-Sent: "+auth+"\r\n\r\n")
			fmt.Fprintf(c, "HTTP/1.1 503 not for %s\r\nX-Sent: %s\r\n", auth, auth)
			if req.Method == "GET" {
				fmt.Fprintf(c, "Content-Length: %d\r\n\r\n%s", len(page), page)
				continue
			}
			io.WriteString(c, "Transfer-Encoding: chunked\r\n\r\n")
			for i := range len(page) {
				if i < len(page)-600 && i%1000 != 0 {
					continue
				}
				end := min(i+1000, len(page))
				if i >= len(page)-600 {
					end = i + 1 // a byte a chunk, where it is
				} else {
					end = min(end, len(page)-600)
				}
				fmt.Fprintf(c, "%x\r\n%s\r\n", end-i, page[i:end])
			}
			fmt.Fprintf(c, "0\r\nX-Sent: %s\r\n\r\n", auth)
		}
	})
	for _, user := range []string{"somebody:right-here", "u:p", ""} {
		l := newLab(t, through("http", user, &far{ln: ln}), hosts("ok.test"))
		l.name("ok.test", "192.0.2.1")
		secret := base64.StdEncoding.EncodeToString([]byte(user))
		for _, method := range []string{"GET", "POST"} {
			c := l.client().say(method + " http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			all, err := c.rest()
			if err != nil || !strings.Contains(all, " 503 ") || strings.Count(all, "a page of HTML & more+than/that==\r\n") < 2000 {
				t.Errorf("%s as %q: %v, %.300q", method, user, err, all)
			}
			if <-methods != method {
				t.Errorf("%s: the upstream was asked something else", method)
			}
			if user == "" {
				continue
			}
			for _, form := range []string{secret, strings.TrimRight(secret, "="), url.QueryEscape(secret), user} {
				if len(form) > 3 && strings.Contains(all, form) {
					t.Errorf("%s as %q: the program is told %q", method, user, form)
				}
			}
		}
		for _, method := range []string{"TRACE", "Track"} {
			resp, body := l.ask(method + " http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nMax-Forwards: 0\r\nConnection: close\r\n\r\n")
			if want := map[bool]int{true: 405, false: 103}[user != ""]; resp.StatusCode != want {
				t.Errorf("%s as %q: %d %q", method, user, resp.StatusCode, body)
			}
			if user == "" {
				<-methods
			}
		}
	}
	if len(methods) > 0 {
		t.Errorf("the upstream was asked to %s", <-methods)
	}
}
