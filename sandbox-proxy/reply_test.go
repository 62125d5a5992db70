package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// An answer comes as it was said, but for what is for one hop, and in a framing
// that the program can rely on; another may follow.
func TestAnswersAsSaid(t *testing.T) {
	const date = "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
	for name, c := range map[string]struct{ method, says, want string }{
		"length":           {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"},
		"its words":        {"GET", "HTTP/1.1 404 Gone fishing\r\nContent-Length: 0\r\n" + date + "\r\n", "HTTP/1.1 404 Gone fishing\r\nContent-Length: 0\r\n" + date + "\r\n"},
		"head":             {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
		"head, chunks":     {"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"},
		"not modified":     {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\n"},
		"no content":       {"GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"},
		"no content, head": {"HEAD", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"},
		"chunks":           {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"its end":          {"GET", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"HTTP/1.0":         {"GET", "HTTP/1.0 200 OK\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"both":             {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"length of a hop":  {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: content-length\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"trailer": {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, Lnk-Refused\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\nLnk-Refused: host\r\nContent-Length: 7\r\nTrailer: X\r\nConnection: close\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-More: 2\r\nX-Sum: 1\r\n\r\n"},
		"trailer of none": {"GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nTrailer: Transfer-Encoding, X-A\r\nX-A: 1\r\n\r\nok",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"lines": {"GET", "HTTP/1.1 200 OK\nx-a: 1\n 2\nLNK-REFUSED: host\nContent-Length : 9\nContent-Length: 2\n\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx-a: 1 2\r\n\r\nok"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, hosts("ok.test", "next.test"))
			l.origin("ok.test", 80, func(conn *net.TCPConn) {
				rawHead(bufio.NewReader(conn))
				io.WriteString(conn, c.says)
			})
			l.origin("next.test", 80, func(conn *net.TCPConn) {
				rawHead(bufio.NewReader(conn))
				io.WriteString(conn, whole("next"))
			})
			all, err := l.client().say("%s http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\nGET http://next.test/ HTTP/1.1\r\nHost: next.test\r\nConnection: close\r\n\r\n", c.method).rest()
			next := strings.Replace(whole("next"), "OK\r\n", "OK\r\nConnection: close\r\n", 1)
			if err != nil || all != c.want+next {
				t.Errorf("%v\ncame %q\nwant %q", err, all, c.want+next)
			}
		})
	}
}

// What cannot be read in one way only is no answer, and says so; what ends too
// early does not look whole. Nothing follows it that a host has said.
func TestAnswersThatAreNone(t *testing.T) {
	for name, says := range map[string]string{
		"nothing":           "",
		"words":             "hello\r\n\r\n",
		"two lengths":       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk",
		"negative":          "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
		"plus":              "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
		"NUL":               "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nok",
		"CR":                "HTTP/1.1 200 OK\r\nX: a\rLnk-Refused: host\r\nContent-Length: 2\r\n\r\nok",
		"name":              "HTTP/1.1 200 OK\r\nX\x00: a\r\nContent-Length: 2\r\n\r\nok",
		"coding":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"status":            "HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nok",
		"101":               "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
		"long":              "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 70<<10) + "\r\n\r\n",
		"many":              "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: a\r\n", 12<<10) + "\r\n",
		"half a head":       "HTTP/1.1 200 OK\r\nX: a",
		"early end":         "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
		"early end, chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
		"chunk":             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokHTTP/1.1 200 OK\r\n\r\n",
		"chunk's length":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n",
		"extensions":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 1000) + "0\r\n\r\n",
		"trailer":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, hosts("ok.test"))
			l.origin("ok.test", 80, func(c *net.TCPConn) {
				rawHead(bufio.NewReader(c))
				io.WriteString(c, says)
			})
			c := l.client().say("%s", asked("ok.test", "/"))
			resp, err := http.ReadResponse(c.r, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			switch {
			case len(resp.Header["Lnk-Refused"]) > 0:
				t.Errorf("in the proxy's name: %v", resp.Header)
			case resp.StatusCode == 502 && err == nil && strings.HasPrefix(string(body), "lnk sandbox web: "):
			case resp.StatusCode == 200 && err != nil:
				if rest, _ := c.rest(); rest != "" {
					t.Errorf("behind it %q", rest)
				}
			default:
				t.Errorf("%d %.60q %v", resp.StatusCode, body, err)
			}
		})
	}
}
