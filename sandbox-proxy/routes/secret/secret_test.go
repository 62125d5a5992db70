package secret_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func basic(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }

var ok = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })

// What goes in a header.
func TestHeader(t *testing.T) {
	l := newLab(t, ok, header)
	for _, c := range []struct{ name, said, sent string }{
		{"alone", placeholder, value},
		{"a scheme", "Bearer " + placeholder, "Bearer " + value},
		{"another scheme", "token  " + placeholder, "token  " + value},
		{"a name", `Token token="` + placeholder + `"`, `Token token="` + value + `"`},
		{"quoted", `"` + placeholder + `"`, `"` + value + `"`},
		{"Basic, as the password", basic("git:" + placeholder), basic("git:" + value)},
		{"Basic, as the user", basic(placeholder + ":"), basic(value + ":")},
		{"Basic, in other letters", strings.Replace(basic("git:"+placeholder), "Basic", "bAsIc", 1), strings.Replace(basic("git:"+value), "Basic", "bAsIc", 1)},
		{"none", "", ""},
	} {
		line := "X-Other: " + placeholder
		if c.said != "" {
			line = "authoriZation: " + c.said
		}
		status, _, body := l.say(get("/x?y=1", line))
		all := l.requests()
		if want := "GET " + host + " /x?y=1 " + c.sent; status != 200 || body != "ok" || all[len(all)-1] != want {
			t.Errorf("%s: %d %q, asked %q, want %q", c.name, status, body, all[len(all)-1], want)
		}
	}
}

// A program uses no account of its own on the host.
func TestAnotherCredential(t *testing.T) {
	l := newLab(t, ok, header)
	for name, lines := range map[string][]string{
		"its own":                   {"Authorization: Bearer mine"},
		"its own, Basic":            {"Authorization: " + basic("me:mine")},
		"two lines":                 {bearer, "Authorization: Bearer mine"},
		"two lines, the other way":  {"Authorization: Bearer mine", bearer},
		"twice":                     {bearer, bearer},
		"in one line":               {"Authorization: Bearer mine, Bearer " + placeholder},
		"behind it":                 {bearer + ", Bearer mine"},
		"a long scheme":             {"Authorization: ghp_mymymymymymymymy " + placeholder},
		"a digit in the scheme":     {"Authorization: t0k3n " + placeholder},
		"as a name":                 {"Authorization: Token mine1=" + placeholder},
		"beside it in Basic":        {"Authorization: " + basic("ghp_0123456789012345678901234567890123456789:"+placeholder)},
		"twice in Basic":            {"Authorization: " + basic(placeholder+":"+placeholder)},
		"by an underscore's name":   {"Api_Key: mine"},
		"another header":            {"X-Api-Key: mine"},
		"the placeholder behind it": {"X-Api-Key: mine, " + placeholder},
		"the placeholder in it":     {"X-Auth-Token: Digest username=mine, response=mine, x=" + placeholder},
		"a header of other hosts":   {bearer, "Job-Token: mine"},
		"another header beside":     {bearer, "X-Api-Key: mine"},
		"no base64":                 {"Authorization: Basic ?" + placeholder[:4]},
		"a part of the placeholder": {"Authorization: Bearer " + placeholder[1:]},
	} {
		status, head, body := l.say(get("/x", lines...))
		if status != 403 || head.Get("Lnk-Refused") != "credential" {
			t.Errorf("%s: %d %v %q", name, status, head, body)
		}
	}
	if all := l.requests(); len(all) != 0 {
		t.Errorf("the host was asked: %q", all)
	}
}

// A session that a host made with the program's own account is not carried: of
// cookies those stay that hold the placeholder.
func TestCookies(t *testing.T) {
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header["Cookie"])
	}), header)
	for said, want := range map[string]string{
		"session=mine":                          "[]",
		"session=mine," + placeholder:           "[]",
		"session=mine" + placeholder + "; x":    "[]",
		`c="` + placeholder + `"`:               `[c="` + placeholder + `"]`,
		"a=b; c=" + placeholder + "; session=m": "[c=" + placeholder + "]",
	} {
		if status, _, body := l.say(get("/x", bearer, "Cookie: "+said)); status != 200 || body != want {
			t.Errorf("%s: %d %q", said, status, body)
		}
	}
}

// Trailers are too late for a check: none of them is a credential.
func TestTrailers(t *testing.T) {
	seen := make(chan string, 1)
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		seen <- fmt.Sprint(r.Trailer)
		w.Header().Set("Trailer", "X-Told")
		w.WriteHeader(200)
		io.WriteString(w, "body")
		w.Header().Set("X-Told", "is "+value)
		w.Header().Set(http.TrailerPrefix+"X-Untold", value)
	}), header)
	_, head, body := l.say("POST " + mounted + "/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization, X-Sum, Api_key\r\nConnection: close\r\n\r\n0\r\nAuthorization: mine\r\nX-Sum: 1\r\nApi_key: mine\r\nX-Untold: 2\r\n\r\n")
	if got := <-seen; got != "map[X-Sum:[1]]" {
		t.Error(got)
	}
	if body != "body" || head.Get("Trailer:X-Told") != "is "+placeholder || head.Get("Trailer:X-Untold") != placeholder {
		t.Errorf("%q %v", body, head)
	}
}

// A header by another name is one to a host that reads them so.
func TestHeaderByAnotherName(t *testing.T) {
	l := newLab(t, ok, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Header = "X-Own_Key" })
	for _, lines := range [][]string{
		{"X_Own_Key: mine"}, {"X-Own-Key: " + placeholder}, {"X-Own_Key: " + placeholder, "X-Own-Key: mine"}, {"x_own-key: mine", "X-Own_Key: " + placeholder},
	} {
		if status, head, body := l.say(get("/x", lines...)); status != 403 || head.Get("Lnk-Refused") != "credential" {
			t.Errorf("%q: %d %q", lines, status, body)
		}
	}
	if status, _, _ := l.say(get("/x", "X-Own_Key: "+placeholder)); status != 200 || len(l.requests()) != 1 {
		t.Error(status, l.requests())
	}
}

// Taken out by Connection, it goes without.
func TestConnectionNamesTheHeader(t *testing.T) {
	l := newLab(t, ok, header)
	l.say("GET " + mounted + "/x HTTP/1.1\r\nHost: localhost\r\nConnection: close, authorization\r\nAuthorization: Bearer mine\r\n\r\n")
	if all := l.requests(); len(all) != 1 || strings.Contains(all[0], "mine") {
		t.Errorf("%q", all)
	}
}

// Anywhere else the placeholder passes as it is.
func TestPlaceholderElsewhere(t *testing.T) {
	seen := make(chan string, 1)
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- fmt.Sprint(r.RequestURI, r.Header["X-Other"], r.Header["X-Api-Key"], r.Header["Cookie"], string(body), r.Trailer["X-T"], r.Header["Authorization"])
	}), header)
	l.say("POST " + mounted + "/" + placeholder + "?authorization=" + placeholder + " HTTP/1.1\r\nHost: localhost\r\nX-Other: " + placeholder + "\r\nX-Api-Key: " + placeholder +
		"\r\nCookie: a=" + placeholder + "\r\n" + bearer + "\r\nConnection: close\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n18\r\n" + placeholder + "\r\n0\r\nX-T: " + placeholder + "\r\n\r\n")
	p := placeholder
	want := fmt.Sprint("/"+p+"?authorization="+p, []string{p}, []string{p}, []string{"a=" + p}, p, []string{p}, []string{"Bearer " + value})
	if got := <-seen; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestQuery(t *testing.T) {
	awkward := "a&b=c d/%+e"
	l := newLab(t, ok, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) {
		s.Header, s.Query, s.Value = "", "key", awkward
	})
	for said, sent := range map[string]string{
		"/x?key=" + placeholder:                "/x?key=a%26b%3Dc+d%2F%25%2Be",
		"/x?a=%20&k%65y=" + placeholder + "&b": "/x?a=%20&k%65y=a%26b%3Dc+d%2F%25%2Be&b",
		"/x?a=" + placeholder:                  "/x?a=" + placeholder,
		"/x":                                   "/x",
		"/key=" + placeholder + "?":            "/key=" + placeholder + "?",
	} {
		status, _, _ := l.say(get(said))
		all := l.requests()
		if want := "GET " + host + " " + sent + " "; status != 200 || all[len(all)-1] != want {
			t.Errorf("%s: %d, asked %q, want %q", said, status, all[len(all)-1], want)
		}
	}
	before := len(l.requests())
	for _, said := range []string{
		"/x?access_token=mine", "/x?key=" + placeholder + "&private%5ftoken=mine", "/x?a=b;Api_Key=mine", "/x?client_secret=mine",
		"/x?key=mine", "/x?key=" + placeholder + "&key=mine", "/x?key=mine&key=" + placeholder, "/x?a=1;key=mine",
		"/x?KEY=mine", "/x?key%5B%5D=mine", "/x?key[]=mine", "/x?key=" + placeholder + "&key=" + placeholder, "/x?key=x" + placeholder,
		"/x?key=%zz", "/x?key", "/x?+key=mine", "/x?key%00x=mine", "/x?%20key=mine&key=" + placeholder,
		"/x?access_token=mine" + placeholder, "/x?access.token=mine", "/x?private%20token=mine", "/x?access_token%5Ba%5D=mine",
	} {
		if status, head, body := l.say(get(said)); status != 403 || head.Get("Lnk-Refused") != "credential" {
			t.Errorf("%s: %d %q", said, status, body)
		}
	}
	if status, head, _ := l.say(get("/x?key="+placeholder, "Authorization: Bearer mine")); status != 403 || head.Get("Lnk-Refused") != "credential" {
		t.Error(status, head)
	}
	if len(l.requests()) != before {
		t.Error("the host was asked")
	}
}

func TestPaths(t *testing.T) {
	l := newLab(t, ok, header, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Paths = []string{"/v1/", "/one", "/%74wo"} })
	for said, sent := range map[string]string{
		"/v1/x?y":         "/v1/x?y",
		"/v1/":            "/v1/",
		"/one":            "/one",
		"/two":            "/two",
		"/v%31/%61%c3%a9": "/v1/a%C3%A9",
		"/v1/a;b=c/d":     "/v1/a;b=c/d",
		"/v1/...":         "/v1/...",
	} {
		status, _, body := l.say(get(said, bearer))
		all := l.requests()
		if want := "GET " + host + " " + sent + " Bearer " + value; status != 200 || all[len(all)-1] != want {
			t.Errorf("%s: %d %q, asked %q, want %q", said, status, body, all[len(all)-1], want)
		}
	}
	before := len(l.requests())
	for _, said := range []string{
		"", "/", "/v1", "/V1/", "/one/", "/onex", "/v2/x", "/v1/../v2", "/v1/./x", "/v1/..", "/v1/%2e%2e/v2", "/v1/.%2E/v2", "/v1//x", "//v1/x",
		"/v1/%2fx", "/v1/%5c..%5cv2", `/v1/..\v2`, "/v1/%252e%252e/v2", "/v1/..;/v2", "/v1/..%3b/v2", "/v1/%00", "/v1/x%",
		"/v1/%c0%ae%c0%ae/v2", "/v1/x%c0%afv2", "/v1/%ef%bc%8e%ef%bc%8e/v2", "/v1/\uff0e\uff0e/v2", "/v1/..%ef%bc%8fv2", "/v1/%e2%80%a5/v2", "/v1/%c3", "/v1/%zz", "/v1/;/x",
		"/v1/..%20/v2", "/v1/..%20%20;x/v2", "/v1/.%20",
	} {
		if status, head, body := l.say(get(said, bearer)); status != 403 && status != 404 && status != 400 || status == 403 && head.Get("Lnk-Refused") != "path" {
			t.Errorf("%s: %d %q", said, status, body)
		}
	}
	if len(l.requests()) != before {
		t.Errorf("the host was asked: %q", l.requests()[before:])
	}
}

// Headers that name another path than the one that was held to the route's,
// another host, or frame a request anew behind other readers, do not come to the
// host.
func TestOtherNames(t *testing.T) {
	for _, paths := range [][]string{{"/v1/"}, nil} {
		got := make(chan http.Header, 1)
		l := newLab(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			for name := range r.Trailer {
				r.Header["Trailer:"+name] = nil
			}
			got <- r.Header
		}), header, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Paths = paths })
		l.say("POST " + mounted + "/v1/x HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\nX_Original-URL: /admin\r\nX-rewrite-url: /admin\r\nDestination: /admin\r\nX-Plain: 1\r\n" +
			"X-Forwarded-Host: elsewhere.test\r\nForwarded: host=elsewhere.test\r\nX_Host: elsewhere.test\r\n" +
			"Transfer_Encoding: gzip\r\nContent_Length: 3\r\nTransfer-Encoding: chunked\r\nTrailer: X-Original-Url, X-Forwarded-Host, Content_Length, X-Plain\r\nConnection: close\r\n\r\n0\r\nX-Original-Url: /admin\r\nX-Forwarded-Host: elsewhere.test\r\nContent_Length: 3\r\nX-Plain: 1\r\n\r\n")
		h := <-got
		for _, name := range []string{"X_original-Url", "X-Rewrite-Url", "Destination"} {
			if _, there := h[name]; there != (paths == nil) {
				t.Errorf("%v: %s came: %v", paths, name, there)
			}
		}
		for _, name := range []string{"Transfer_encoding", "Content_length", "Trailer:X-Original-Url", "Trailer:Content_length", "X-Forwarded-Host", "Forwarded", "X_host", "Trailer:X-Forwarded-Host"} {
			if _, there := h[name]; there {
				t.Errorf("%v: %s came", paths, name)
			}
		}
		if _, there := h["Trailer:X-Plain"]; !there || h.Get("X-Plain") != "1" {
			t.Errorf("%v: what is neither did not come: %v", paths, h)
		}
	}
}

// An empty list of paths is none.
func TestNoPaths(t *testing.T) {
	l := newLab(t, ok, header, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Paths = []string{} })
	if status, _, _ := l.say(get("/", bearer)); status != 403 {
		t.Error(status)
	}
}

// The judge has its word: a name that leads into the private network is
// refused, and one that no route names cannot be reached at all.
func TestJudged(t *testing.T) {
	l := newLab(t, ok, header, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Host = "private.example" })
	status, head, body := l.say(get("/", bearer))
	if status != 403 || head.Get("Lnk-Refused") != "address" || !strings.Contains(body, "lan = true") {
		t.Errorf("%d %v %q", status, head, body)
	}
	if len(l.dialed) != 0 {
		t.Error(l.dialed)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.ended[len(l.ended)-1]; r.Allowed || r.Reason != judge.Address || r.Route != "secret/api" || r.Host != "private.example" {
		t.Errorf("%+v", r)
	}
}

// The secret goes to the host's own certificate and to no other.
func TestCertificate(t *testing.T) {
	for name, of := range map[string]string{"another name": "other.example", "another port": host + ":8443"} {
		l := newLab(t, ok, header, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Host = of })
		status, _, body := l.say(get("/", bearer))
		if name == "another name" {
			if status != 502 || len(l.requests()) != 0 || strings.Contains(body, value) {
				t.Errorf("%s: %d %q %q", name, status, body, l.requests())
			}
			continue
		}
		if status != 200 || !strings.HasPrefix(l.requests()[0], "GET "+of+" /") || l.dialed[0] != "192.0.2.7:8443" {
			t.Errorf("%s: %d %q %q", name, status, l.requests(), l.dialed)
		}
	}
}

func TestMethodsThatRepeat(t *testing.T) {
	l := newLab(t, ok, header)
	for _, m := range []string{"TRACE", "TRACK", "trace", "Track"} {
		raw := strings.Replace(get("/", bearer), "GET", m, 1)
		if status, head, _ := l.say(raw); status != 403 || head.Get("Lnk-Refused") != "method" {
			t.Errorf("%s: %d", m, status)
		}
	}
}

// What only the proxy may know or say stays here.
func TestNothingOfOurs(t *testing.T) {
	seen := make(chan string, 1)
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- fmt.Sprint(r.Header, r.Host)
		w.Header().Set("Lnk-Refused", "host")
	}), header)
	_, head, _ := l.say(get("/", bearer, "Lnk-Caller-Key: evil", "Proxy-Authorization: Basic eA==", "Referer: http://127.0.0.1:1234"+mounted+"/page?q", "Range: bytes=0-1", "If-Range: x", "Request-Range: bytes=0-1", "x-ms-range: bytes=0-1", "A-IM: gzip", "Accept-Charset: ibm037"))
	got := <-seen
	for _, not := range []string{"Lnk-", "caller-key", urlSecret, "127.0.0.1", "Proxy-", "Go-http-client", "Forwarded", "Range", "range", "A-Im", "Accept-Charset"} {
		if strings.Contains(got, not) {
			t.Errorf("the host sees %q: %s", not, got)
		}
	}
	if !strings.Contains(got, "https://"+host+"/page?q") || head.Get("Lnk-Refused") != "" {
		t.Error(got, head)
	}
}

func TestLocation(t *testing.T) {
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.Header.Get("X-To"))
		w.Header().Set("Content-Location", r.Header.Get("X-To"))
		w.WriteHeader(302)
	}), header)
	at := "http://127.0.0.1:1234" + mounted
	for to, want := range map[string]string{
		"https://" + host + "/x?y#z":            at + "/x?y#z",
		"HTTPS://API.example/x":                 at + "/x",
		"https://" + host + ":443/x":            at + "/x",
		"https://" + host:                       at,
		"https://" + host + "?a":                at + "?a",
		"//" + host + "/x":                      at + "/x",
		"/x/y":                                  at + "/x/y",
		"x/y":                                   "x/y",
		"?a":                                    "?a",
		"http://" + host + "/x":                 "http://" + host + "/x",
		"https://" + host + ":8443/x":           "https://" + host + ":8443/x",
		"https://other.example/x":               "https://other.example/x",
		"https://" + host + ".evil.example/x":   "https://" + host + ".evil.example/x",
		"https://u@" + host + "/x":              "https://u@" + host + "/x",
		"//other.example/" + host:               "//other.example/" + host,
		"https://other.example/?token=" + value: "https://other.example/?token=" + placeholder,
	} {
		status, head, _ := l.say(get("/", bearer, "X-To: "+to))
		if got := head.Get("Location"); status != 302 || got != want || head.Get("Content-Location") != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
	if len(l.dialed) > len(l.requests()) {
		t.Error("a redirect was followed")
	}
}

// Uploads and answers go on as they come.
func TestStreams(t *testing.T) {
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		rc.EnableFullDuplex()
		w.WriteHeader(200)
		rc.Flush()
		br := bufio.NewReader(r.Body)
		for {
			line, err := br.ReadString('\n')
			if err != nil {
				return
			}
			io.WriteString(w, "got "+line)
			rc.Flush()
		}
	}), header)
	c := l.conn()
	io.WriteString(c, "POST "+mounted+"/ HTTP/1.1\r\nHost: localhost\r\n"+bearer+"\r\nTransfer-Encoding: chunked\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(resp.Body)
	for _, word := range []string{"one\n", "two\n", "three\n"} {
		fmt.Fprintf(c, "%x\r\n%s\r\n", len(word), word)
		if line, err := br.ReadString('\n'); err != nil || line != "got "+word {
			t.Fatalf("%q %v", line, err)
		}
	}
	io.WriteString(c, "0\r\n\r\n")
	if rest, err := io.ReadAll(br); err != nil || len(rest) > 0 {
		t.Errorf("%q %v", rest, err)
	}
}

func TestExpect(t *testing.T) {
	l := newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(417)
			return
		}
		io.Copy(w, r.Body)
	}), header)
	for path, want := range map[string]string{"/yes": "HTTP/1.1 100 Continue", "/no": "HTTP/1.1 417 Expectation Failed"} {
		c := l.conn()
		io.WriteString(c, "PUT "+mounted+path+" HTTP/1.1\r\nHost: localhost\r\n"+bearer+"\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || strings.TrimSpace(line) != want {
			t.Errorf("%s: %q %v, want %s", path, line, err, want)
		}
	}
}
