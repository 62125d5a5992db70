package secret_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// A host that says what it was sent, in every way that its path asks for.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	sent := r.Header.Get("Authorization")
	if key := r.URL.Query().Get("key"); key != "" {
		sent = key
	}
	body := []byte("<" + sent + ">")
	switch strings.TrimPrefix(r.URL.Path, "/") {
	case "plain":
	case "json":
		body, _ = json.Marshal(map[string]any{"headers": r.Header, "sent": sent, "url": r.RequestURI})
	case "html":
		body = []byte("<p>" + html.EscapeString(sent) + "</p>")
	case "query":
		body = []byte("?" + url.QueryEscape(sent))
	case "base64":
		body = []byte(base64.StdEncoding.EncodeToString([]byte("x" + sent + "yz")))
	case "hex":
		body = fmt.Appendf(nil, "%x %X", sent, sent)
	case "head":
		w.Header().Set("X-Sent", sent)
		w.Header().Add("Set-Cookie", "a="+sent)
		w.Header().Set(strings.ReplaceAll("X-"+sent, " ", "-"), "1")
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+sent+`"`)
		w.Header().Set("ETag", `"`+sent+`"`)
	case "early":
		w.Header().Set("Link", "<"+sent+">")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
	case "pieces":
		for i := range body {
			w.Write(body[i : i+1])
			http.NewResponseController(w).Flush()
		}
		return
	case "border":
		w.Write(bytes.Repeat([]byte("."), 32<<10-7-len(body)/2))
	case "gzip", "x-gzip", "deflate", "raw", "twice":
		var b bytes.Buffer
		encoding := strings.TrimPrefix(r.URL.Path, "/")
		switch encoding {
		case "deflate":
			z := zlib.NewWriter(&b)
			z.Write(body)
			z.Close()
		case "raw":
			z, _ := flate.NewWriter(&b, 9)
			z.Write(body)
			z.Close()
			encoding = "deflate"
		case "twice":
			var once bytes.Buffer
			z := gzip.NewWriter(&once)
			z.Write(body)
			z.Close()
			z = gzip.NewWriter(&b)
			z.Write(once.Bytes())
			z.Close()
			encoding = "gzip, identity, GZIP"
		default:
			z := gzip.NewWriter(&b)
			z.Write(body)
			z.Close()
		}
		w.Header().Set("Content-Encoding", encoding)
		body = b.Bytes()
	case "br":
		w.Header().Set("Content-Encoding", "br")
	case "asked":
		if r.Header.Get("Accept-Encoding") != "identity" {
			body = []byte("an encoding was asked for: " + r.Header.Get("Accept-Encoding"))
		} else {
			body = []byte("identity")
		}
	case "range":
		http.ServeContent(w, r, "x.txt", time.Time{}, bytes.NewReader(body))
		return
	case "status":
		c, _, _ := http.NewResponseController(w).Hijack()
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 200 "+sent+"\r\nContent-Length: 2\r\n\r\nok")
		return
	case "broken":
		c, _, _ := http.NewResponseController(w).Hijack()
		defer c.Close()
		io.WriteString(c, sent+" is no answer\r\n\r\n")
		return
	}
	w.Write(body)
})

func never(t *testing.T, what string, parts ...any) {
	t.Helper()
	all := fmt.Sprintf("%v", parts)
	for _, secret := range []string{value, value[4:], base64.RawStdEncoding.EncodeToString([]byte(value))[4:24], fmt.Sprintf("%x", value)} {
		if strings.Contains(all, secret) || strings.Contains(strings.ToLower(all), strings.ToLower(secret)) {
			t.Errorf("%s: the value is in %.400s", what, all)
		}
	}
}

// A host that says the value says the placeholder to the program.
func TestEcho(t *testing.T) {
	l := newLab(t, echo, header)
	for path, want := range map[string]string{
		"/plain": "<Bearer " + placeholder + ">", "/pieces": "<Bearer " + placeholder + ">", "/gzip": "<Bearer " + placeholder + ">",
		"/x-gzip": "<Bearer " + placeholder + ">", "/deflate": "<Bearer " + placeholder + ">", "/raw": "<Bearer " + placeholder + ">", "/twice": "<Bearer " + placeholder + ">",
		"/json": "Bearer " + placeholder, "/html": "<p>Bearer " + placeholder, "/query": "?Bearer+" + placeholder, "/border": "....<Bearer " + placeholder + ">",
		"/hex": fmt.Sprintf("%x", placeholder), "/base64": "", "/head": "", "/early": "", "/asked": "identity", "/status": "ok",
	} {
		status, head, body := l.say(get(path, bearer, "Accept-Encoding: gzip, br"))
		never(t, path, head, body)
		if status == 103 {
			if head.Get("Link") != "<Bearer "+placeholder+">" {
				t.Error(head)
			}
			continue
		}
		if status != 200 || !strings.Contains(body, want) || head.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d %v %q, want %q", path, status, head, body, want)
		}
		if path == "/head" && (head.Get("X-Sent") != "Bearer "+placeholder || head.Get("Set-Cookie") != "a=Bearer "+placeholder) {
			t.Error(head)
		}
	}
	status, _, body := l.say(get("/range", bearer, "Range: bytes=12-20"))
	if never(t, "range", body); status != 200 || body != "<Bearer "+placeholder+">" {
		t.Errorf("a range: %d %q", status, body)
	}
	for path, want := range map[string]int{"/br": 502, "/broken": 502} {
		status, head, body := l.say(get(path, bearer))
		never(t, path, head, body)
		if status != want {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
}

// Basic credentials come back as the program said them.
func TestEchoOfBasic(t *testing.T) {
	l := newLab(t, echo, header)
	for _, user := range []string{"", "u", "us", "git", "x-access-token"} {
		said := basic(user + ":" + placeholder)
		for _, path := range []string{"/plain", "/pieces", "/gzip"} {
			status, head, body := l.say(get(path, "Authorization: "+said))
			never(t, path, head, body)
			if status != 200 || body != "<"+said+">" {
				t.Errorf("%s: %q, want %q", path, body, said)
			}
		}
		_, head, body := l.say(get("/base64", "Authorization: "+said))
		never(t, "base64 of it", head, body)
	}
}

func TestEchoOfQuery(t *testing.T) {
	awkward := `s&c=r e/"<t>+%`
	l := newLab(t, echo, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) {
		s.Header, s.Query, s.Value = "", "key", awkward
	})
	for _, path := range []string{"/plain", "/json", "/html", "/query", "/pieces"} {
		status, head, body := l.say(get(path + "?key=" + placeholder))
		all := fmt.Sprint(head, body)
		if plain, _ := url.QueryUnescape(all); status != 200 || strings.Contains(plain, awkward) || strings.Contains(html.UnescapeString(all), awkward) || strings.Contains(all, `s\u0026c`) {
			t.Errorf("%s: %s", path, all)
		}
		if !strings.Contains(all, placeholder) {
			t.Errorf("%s: no placeholder: %s", path, all)
		}
	}
}

// A body whose length stays keeps it; one whose length cannot be told has none.
func TestLength(t *testing.T) {
	l := newLab(t, echo, header)
	if _, head, body := l.say(get("/plain", bearer)); head.Get("Content-Length") != fmt.Sprint(len(body)) {
		t.Errorf("%v %q", head, body)
	}
	l = newLab(t, echo, header, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Placeholder = "short" })
	_, head, body := l.say(get("/plain", "Authorization: Bearer short"))
	if head.Get("Content-Length") != "" || body != "<Bearer short>" {
		t.Errorf("%v %q", head, body)
	}
	if _, head, _ := l.say(strings.Replace(get("/plain", "Authorization: Bearer short"), "GET", "HEAD", 1)); head == nil {
		t.Error("no answer to HEAD")
	}
}

// frame is a server's frame of a websocket.
func frame(op byte, payload string) string {
	b := []byte{op}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return string(b) + payload
}

func TestWebsocket(t *testing.T) {
	for name, c := range map[string]struct{ sent, want string }{
		"short":      {frame(0x81, "hello "+value+" g"), frame(0x81, "hello "+placeholder+" g")},
		"long":       {frame(0x82, strings.Repeat("x", 200)+value), frame(0x82, strings.Repeat("x", 200)+placeholder)},
		"longer":     {frame(0x82, strings.Repeat("x", 70000)+value), frame(0x82, strings.Repeat("x", 70000)+placeholder)},
		"two":        {frame(0x81, "ghp_") + frame(0x81, value), frame(0x81, "ghp_") + frame(0x81, placeholder)},
		"empty":      {frame(0x89, "") + frame(0x81, "x"), frame(0x89, "") + frame(0x81, "x")},
		"masked":     {frame(0x81, "a") + "\x81\x82abcdxx", frame(0x81, "a")},
		"compressed": {frame(0x81, "a") + frame(0xc1, "b"), frame(0x81, "a")},
		"cut":        {frame(0x81, "abcdef")[:5], frame(0x81, "abcdef")[:5]},
	} {
		l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Sec-Websocket-Extensions") != "" || r.Header.Get("Authorization") != "Bearer "+value {
				http.Error(w, fmt.Sprint(r.Header), 400)
				return
			}
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Sent: "+value+"\r\n\r\n")
			got := make([]byte, 5)
			if _, err := io.ReadFull(rw, got); err != nil || string(got) != "early" {
				t.Errorf("%q %v", got, err)
			}
			io.WriteString(conn, c.sent)
		}), header)
		conn := l.conn()
		io.WriteString(conn, "GET "+mounted+"/ws HTTP/1.1\r\nHost: localhost\r\n"+bearer+"\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\nearly")
		br := bufio.NewReader(conn)
		resp, err := http.ReadResponse(br, nil)
		if err != nil || resp.StatusCode != 101 || resp.Header.Get("X-Sent") != placeholder {
			t.Errorf("%s: %+v %v", name, resp, err)
			continue
		}
		got, err := io.ReadAll(br)
		if err != nil && string(got) != c.want || string(got) != c.want {
			t.Errorf("%s: %.100q %v, want %.100q", name, got, err, c.want)
		}
	}
}

// Basic credentials as they were sent are found in a message too, where the
// value is so short that its own part of them is not looked for.
func TestWebsocketSaysBasic(t *testing.T) {
	const short = "s3cre"
	sent := basic("me:" + short)
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"+frame(0x81, r.Header.Get("Authorization")))
	}), header, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Value = short })
	conn := l.conn()
	io.WriteString(conn, strings.Replace(get("/ws", "Authorization: "+basic("me:"+placeholder)), "Connection: close", "Connection: Upgrade\r\nUpgrade: websocket", 1))
	all, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(all), " 101 ") || strings.Contains(string(all), sent[len("Basic "):]) {
		t.Errorf("%q %v", all, err)
	}
}

// A stop ends a websocket too, and a switch that was not asked for is none.
func TestWebsocketIsCut(t *testing.T) {
	open := make(chan struct{}, 1)
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, rw, _ := http.NewResponseController(w).Hijack()
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		open <- struct{}{}
		io.Copy(io.Discard, rw)
	}), header)
	conn := l.conn()
	io.WriteString(conn, "GET "+mounted+"/ws HTTP/1.1\r\nHost: localhost\r\n"+bearer+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	br := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(br, nil); err != nil || resp.StatusCode != 101 {
		t.Fatal(resp, err)
	}
	<-open
	l.proxy.Stop("enough")
	if _, err := br.ReadByte(); err == nil {
		t.Error("it goes on")
	}
	l.proxy.Resume()
	if status, _, body := l.say(get("/ws", bearer)); status != 502 {
		t.Error(status, body)
	}
	<-open
}
