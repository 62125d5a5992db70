package secret_test

import (
	"net/http"
	"strings"
	"testing"
)

// Requests that two readers could read differently, or that have the placeholder
// where a client does not put it, send the value in the route's header at the
// most, once, towards the route's host.
func TestRawRequests(t *testing.T) {
	var sent []string
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Proto+" "+r.Host+" "+r.RequestURI)
		for name, values := range r.Header {
			for _, v := range values {
				sent = append(sent, name+": "+v)
			}
		}
	}), header)
	const tail = "Connection: close\r\n\r\n"
	for _, c := range []struct {
		name, raw string
		value     int // how often the host is sent it
	}{
		{"as it is meant", get("/x", bearer), 1},
		{"two placeholders in one", get("/x", "Authorization: Bearer "+placeholder+" "+placeholder), 0},
		{"two joined", get("/x", "Authorization: "+placeholder+","+placeholder), 0},
		{"two headers", get("/x", bearer, bearer), 0},
		{"folded", get("/x", "Authorization: Bearer\r\n "+placeholder), 0},
		{"in a header's name", get("/x", "X-"+placeholder+": 1"), 0},
		{"in the path", get("/" + placeholder + "?" + placeholder + "=" + placeholder), 0},
		{"in another header", get("/x", "X-A: "+placeholder), 0},
		{"nominated by Connection", "GET " + mounted + "/x HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\nConnection: close, Authorization\r\n\r\n", 0},
		{"a space before the colon", get("/x", "Authorization : Bearer "+placeholder), 0},
		{"h2c", "GET " + mounted + "/x HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: close, Upgrade, HTTP2-Settings\r\n\r\n", 1},
		{"an encoding over chunks", "POST " + mounted + "/x HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\nTransfer-Encoding: gzip, chunked\r\n" + tail + "0\r\n\r\n", 0},
		{"two lengths", "POST " + mounted + "/x HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n" + tail + "0\r\n\r\n", 0},
		{"a body behind a GET", "GET " + mounted + "/x HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\nContent-Length: 24\r\n" + tail + placeholder, 1},
		{"the route's host, said by the program", "GET " + mounted + "/x HTTP/1.1\r\nHost: elsewhere.test\r\n" + bearer + "\r\n" + tail, 0},
		{"as a proxy is asked", "GET http://API.example.:80@127.0.0.1" + mounted + "/x HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\n" + tail, 0},
		{"to another host by the path", get("//elsewhere.test/x", bearer), 1},
		{"to another host by an at sign", get("@elsewhere.test/x", bearer), 0},
		{"two requests in one", "POST " + mounted + "/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 9\r\n" + bearer + "\r\n" + tail, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent = nil
			before := len(l.requests())
			l.say(c.raw)
			n := 0
			for i, line := range sent {
				n += strings.Count(line, value)
				if i > 0 && strings.Contains(line, value) && line != "Authorization: Bearer "+value {
					t.Errorf("the host was sent %q", line)
				}
				if i == 0 && !strings.HasPrefix(line, "HTTP/1.1 "+host+" /") {
					t.Errorf("the host was asked %q", line)
				}
			}
			if n != c.value {
				t.Errorf("the value was sent %d times, want %d: %q", n, c.value, sent)
			}
			if got := len(l.requests()) - before; got > 1 {
				t.Errorf("one request came as %d", got)
			}
			for _, line := range sent {
				if name, _, _ := strings.Cut(line, ":"); name == "Upgrade" || name == "Http2-Settings" {
					t.Errorf("the host was sent %q", line)
				}
			}
		})
	}
	for _, at := range l.dialed {
		if at != "192.0.2.7:443" {
			t.Errorf("dialled %s", at)
		}
	}
}
