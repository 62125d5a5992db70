package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What a host is asked for goes on byte for byte: it may have been signed so.
func TestTargetIsNotRewritten(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(line), line)
	})
	for target, want := range map[string]string{
		"GET http://ok.test":                             "GET /",
		"GET http://ok.test?a|b":                         "GET /?a|b",
		"GET http://ok.test/a|b[c]{d}^`\"<>'x":           "GET /a|b[c]{d}^`\"<>'x",
		"GET http://ok.test/100%":                        "GET /100%",
		"GET http://ok.test/%zz?%":                       "GET /%zz?%",
		"GET http://ok.test/%2F%2f%7e%41":                "GET /%2F%2f%7e%41",
		"GET http://ok.test/caf\xc3\xa9?\xff=\xe9":       "GET /caf\xc3\xa9?\xff=\xe9",
		"GET http://ok.test//a/../b/./c":                 "GET //a/../b/./c",
		"GET http://ok.test//a?b":                        "GET //a?b",
		"GET http://ok.test//a|b":                        "GET //a|b",
		"GET http://ok.test/\\@evil.test/":               "GET /\\@evil.test/",
		"GET http://ok.test/http://evil.test/":           "GET /http://evil.test/",
		"GET http://ok.test/?u=http://evil.test/caf\xe9": "GET /?u=http://evil.test/caf\xe9",
		"OPTIONS http://ok.test":                         "OPTIONS *",
		"OPTIONS http://ok.test/":                        "OPTIONS /",
		"get http://ok.test/x?":                          "get /x?",
	} {
		if _, got := l.ask(target + " HTTP/1.1\r\nHost: ok.test\r\n\r\n"); got != want+" HTTP/1.1\r\n" {
			t.Errorf("%q: the host was asked for %q", target, got)
		}
	}
	for target, want := range map[string]string{"OPTIONS *": "OPTIONS *", "GET /%zz\xff": "GET /%zz\xff"} {
		c := l.connect("ok.test:80").say("%s HTTP/1.1\r\nHost: ok.test\r\n\r\n", target)
		if _, got := c.answer(); got != want+" HTTP/1.1\r\n" {
			t.Errorf("%q in a tunnel: the host was asked for %q", target, got)
		}
	}
}

// Some clients end a body with an empty line that belongs to nothing.
func TestEmptyLineBehindBody(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, headers)
	c := l.client().say("POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 3\r\n\r\nabc\r\nGET http://ok.test/next HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	c.answer()
	if _, body := c.answer(); !strings.HasPrefix(body, "GET /next ") {
		t.Errorf("the next request: %q", body)
	}
	c.say("\r")
	c.say("\nGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n")
	if resp, _ := c.answer(); resp.StatusCode != 403 {
		t.Errorf("behind an empty line: %d", resp.StatusCode)
	}
}

// uploads asks as many libraries do: everything is sent, then the answer read.
func uploads(l *lab, host string, chunked bool) (*http.Response, string, error) {
	c := l.client()
	const size = 8 << 20
	head := fmt.Sprintf("Content-Length: %d\r\n\r\n", size)
	if chunked {
		head = fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size)
	}
	body := strings.Repeat("a", size)
	if chunked {
		body += "\r\n0\r\n\r\n"
	}
	if _, err := io.WriteString(c, "POST http://"+host+"/ HTTP/1.1\r\nHost: "+host+"\r\n"+head+body); err != nil {
		return nil, "", err
	}
	resp, said := c.answer()
	return resp, said, nil
}

// A host that answers before it has the whole body, and hangs up, is heard; so
// is the proxy's own refusal.
func TestEarlyAnswer(t *testing.T) {
	l := newLab(t, hosts("ok.test", "rude.test"))
	early := func(linger int) func(c *net.TCPConn) {
		return func(c *net.TCPConn) {
			if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\n\r\ntoo large")
			c.SetLinger(linger)
		}
	}
	l.origin("ok.test", 80, early(-1))
	l.origin("rude.test", 80, early(0))
	for host, want := range map[string]string{"ok.test": "too large", "rude.test": "too large", "evil.test": "no rule names this host"} {
		for _, chunked := range []bool{false, true} {
			resp, said, err := uploads(l, host, chunked)
			if err != nil || !strings.Contains(said, want) || resp.StatusCode/100 != 4 {
				t.Errorf("%s, chunked %v: %v %q", host, chunked, err, said)
			}
		}
	}
}

// An answer that comes while the body is still on its way does not wait for it.
func TestAnswerBeforeBody(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.WriteString(w, "hello ")
		w.(http.Flusher).Flush()
		io.Copy(w, r.Body)
	})
	c := l.client().say("POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 5\r\n\r\n")
	resp, err := http.ReadResponse(c.r, &http.Request{Method: "POST"})
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 6))
	c.say("world")
	if rest, err := io.ReadAll(resp.Body); string(rest) != "world" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

// Nothing is read as a request behind a body that was left unread.
func TestNoRequestBehindAnUnreadBody(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		for r := bufio.NewReader(c); ; {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")
		}
	})
	c := l.client().say("POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 500\r\n\r\n")
	if resp, _ := c.answer(); resp.StatusCode != 200 || !resp.Close {
		t.Errorf("the answer is %d, close %v", resp.StatusCode, resp.Close)
	}
	c.say("GET http://ok.test/smuggled HTTP/1.1\r\nHost: ok.test\r\n\r\n").CloseWrite()
	if rest, _ := c.rest(); rest != "" {
		t.Errorf("and then %q", rest)
	}
}

// What comes back says what went wrong, in fixed words.
func TestNoAnswer(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	said := make(chan string, 1)
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.WriteString(c, <-said)
		}
	})
	for says, want := range map[string]string{
		"":                                    "the host ended the connection before it answered",
		"HTTP/1.1 200":                        "the host ended the connection before it answered",
		"SSH-2.0-OpenSSH\r\n":                 "what the host answered is not HTTP/1",
		"HTTP/1.1 099 X\r\n\r\n":              "what the host answered is not HTTP/1",
		"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n": "what the host answered is not HTTP/1",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n": "the host's answer has a head longer than 64 KiB",
	} {
		said <- says
		resp, body := l.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n")
		if body != "lnk sandbox web: "+want+"\n" || resp.StatusCode != 502 {
			t.Errorf("%q: %d %q", says, resp.StatusCode, body)
		}
	}
	said <- "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno"
	if resp, body := l.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"); resp.StatusCode != 407 || body != "no" {
		t.Errorf("a host's own 407, where there is no upstream: %d %q", resp.StatusCode, body)
	}
}

// A request that is refused for its Host names the connection's host.
func TestMisdirectedIsTold(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, headers)
	l.connect("ok.test:80").say("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n").answer()
	eventually(t, "it is told", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.refused) == 1 && l.refused[0].Target() == "ok.test:80" && strings.Contains(l.refused[0].Detail, "evil.test")
	})
}

// Of an answer to CONNECT many clients show the first line alone.
func TestWhyAConnectFailsIsInTheFirstLine(t *testing.T) {
	l := newLab(t, hosts("ok.test", "gone.test"))
	l.name("gone.test", "203.0.113.9")
	for target, want := range map[string]string{
		"gone.test:443":     `502 Bad Gateway: lnk sandbox web: the host could not be reached`,
		"evil.test:443":     `403 Forbidden: lnk sandbox web: refused evil.test:443: no rule names this host; to open it: hosts = ["evil.test"] or --internet-host evil.test`,
		"<b>&'\".test:443":  `400 Bad Request: lnk sandbox web: refused \u003cb\u003e\u0026\u0027\".test:443: not a host`,
		"[ok.test]:443":     `400 Bad Request: lnk sandbox web: refused [ok.test]:443: not a host`,
		"ok.test:443:65536": `400 Bad Request: lnk sandbox web: refused ok.test:443:65536: a CONNECT`,
	} {
		resp, _ := l.client().say("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target).answer("CONNECT")
		if !strings.HasPrefix(resp.Status, want) || strings.ContainsFunc(resp.Status, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q: %q", target, resp.Status)
		}
	}
}

// What an owner writes of a pause is text, and ends no line.
func TestReasonOfAPauseEndsNoLine(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.proxy.Pause("lunch\r\nX-Injected: 1\r\n\r\ncaf\u00e9")
	resp, body := l.client().say("CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n").answer("CONNECT")
	if resp.StatusCode != 503 || resp.Header.Get("X-Injected") != "" || !strings.HasSuffix(resp.Status, `lunch\r\nX-Injected: 1\r\n\r\ncaf\u00e9`) || !strings.Contains(body, "lunch") {
		t.Errorf("%q %q %q", resp.Status, resp.Header, body)
	}
}

// What an answer says of its body twice and alike is taken; what could be
// understood in two ways is not.
func TestAnswersThatSayTheirLengthTwice(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	said := make(chan []string, 1)
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		for _, part := range <-said {
			io.WriteString(c, part)
			time.Sleep(time.Millisecond) // so that they come apart, mostly
		}
	})
	const body, chunked = "hi", "2\r\nhi\r\n0\r\n\r\n"
	long := strings.Repeat("X-Long: "+strings.Repeat("a", 990)+"\r\n", 30) // of several reads
	for head, body := range map[string]string{
		"Content-Length: 2, 2":                                      body,
		"Content-Length:2,2 ,2":                                     body,
		"Content-Length: 2, 2\r\nContent-Length: 2":                 body,
		"content-length: 2 , 2\r\nCONTENT-LENGTH: 2,2":              body,
		"Transfer-Encoding: identity":                               body,
		"Transfer-Encoding: Identity\r\nContent-Length: 2":          body,
		"Content-Length: 2, 2\r\nTransfer-Encoding:identity":        body,
		"Transfer-Encoding: identity\r\nTransfer-Encoding:identity": body,
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked":  chunked,
		"Transfer-Encoding:chunked,Chunked":                         chunked,
	} {
		whole := "HTTP/1.1 200 OK\r\n" + head + "\r\nX-End: 1\r\n\r\n" + body
		for what, parts := range map[string][]string{
			"whole": {whole}, "long": {strings.Replace(whole, head, long+head, 1)}, "long behind it": {strings.Replace(whole, head, head+"\r\n"+strings.TrimSuffix(long, "\r\n"), 1)},
			"long behind an early one": {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + strings.Replace(whole, head, long+head, 1)},
			"apart":                    {whole[:20], whole[20:30], whole[30:]}, "behind an early one": {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + whole[:25], whole[25:]},
		} {
			said <- parts
			c := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n")
			resp, got := c.answer()
			if resp.StatusCode == http.StatusEarlyHints {
				resp, got = c.answer()
			}
			if resp.StatusCode != 200 || got != "hi" || resp.Header.Get("X-End") != "1" || len(resp.Header["Keep-Alive"]) > 0 {
				t.Errorf("%q %s: %d %q %v", head, what, resp.StatusCode, got, resp.Header)
			}
		}
	}
	for _, head := range []string{
		"Content-Length: 2, 3", "Content-Length: 2,", "Content-Length: ,", "Content-Length: 2, 2\r\nContent-Length: 3", "Content-Length: 2 2", "Content-Length: +2, +2",
		"Content-Length: 2, 2\r\n ,3",
		"Transfer-Encoding: identity, chunked", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding: gzip", "Transfer-Encoding: identity\r\n , chunked", "Transfer-Encoding: chunked, chunked\r\n\t,gzip",
	} {
		for _, before := range []string{"", long} {
			said <- []string{"HTTP/1.1 200 OK\r\n" + before + head + "\r\n\r\n" + chunked}
			resp, got := l.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n")
			if resp.StatusCode != 502 {
				t.Errorf("%q behind %d bytes: %d %q", head, len(before), resp.StatusCode, got)
			}
		}
	}
}

// A host that agrees to no websocket is read by the same judge, and so is an
// upstream that answers a CONNECT.
func TestOtherAnswersThatSayTheirLengthTwice(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.WriteString(c, "HTTP/1.1 403 No\r\nContent-Length: 2, 2\r\nX-Long: "+strings.Repeat("a", 9000)+"\r\n\r\nno")
		}
	})
	resp, body := l.ask("GET http://ok.test/ws HTTP/1.1\r\nHost: ok.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if resp.StatusCode != 403 || body != "no" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	up := listen(t)
	serveConns(t, up, func(c *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Long: "+strings.Repeat("a", 9000)+"\r\nContent-Length: 0, 0\r\n\r\nfirst words")
		}
	})
	l = newLab(t, tcp("ok.test:7"), through("http", "", &far{ln: up}))
	if got := l.connect("ok.test:7").read(11); got != "first words" {
		t.Errorf("%q", got)
	}
}

// An answer before the answer is passed on at once, however long that one is in
// coming, and in parts.
func TestEarlyAnswersDoNotWait(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	seen := make(chan bool)
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		for _, part := range []string{"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n"} {
			io.WriteString(c, part)
			if _, ok := <-seen; !ok {
				return
			}
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	})
	defer close(seen)
	c := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n")
	for _, want := range []int{103, 102} {
		if resp, _ := c.answer(); resp.StatusCode != want {
			t.Fatalf("%d, want %d", resp.StatusCode, want)
		}
		seen <- true
	}
	if resp, body := c.answer(); resp.StatusCode != 200 || body != "hi" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// A host is asked for by its name as DNS has it; what would do is said.
func TestHostThatIsNotASCIIIsTold(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	for _, line := range []string{"CONNECT b\u00fccher.test:443", "GET http://b\u00fccher.test/"} {
		if resp, body := l.ask(line + " HTTP/1.1\r\nHost: ok.test\r\n\r\n"); resp.StatusCode != 400 || !strings.Contains(body, "xn--") {
			t.Errorf("%q: %d %q", line, resp.StatusCode, body)
		}
	}
}
