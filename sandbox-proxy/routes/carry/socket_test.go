package carry_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// listen serves on a unix socket.
func listen(t *testing.T, path string, h http.HandlerFunc) {
	t.Helper()
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
}

// folder is a short one: a socket's path is.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "carry")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func plugin(path string) route.Route {
	return route.Route{Name: "p", NeedsSecret: true, Kind: route.Bridge{Socket: path}}
}

func TestSocket(t *testing.T) {
	path := filepath.Join(folder(t), "p.sock")
	listen(t, path, echo)
	l := start(t, plugin(path), nil)
	_, got := l.ask("PUT", "/x/%2F?q", "body", "Lnk-Caller", "mine", "lnk-caller-key", "mine", "Lnk_Caller_Key", "mine", "X-Forwarded-Host", "evil", "Authorization", "mine")
	want := "PUT /x/%2F?q host=localhost| Authorization=enim Lnk-Caller=web Lnk-Caller-Key=the-key|body"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestSocketUpgradeAndStream(t *testing.T) {
	path := filepath.Join(folder(t), "p.sock")
	next := make(chan struct{})
	listen(t, path, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stream" {
			upgrading(w, r)
			return
		}
		w.Header().Set("Trailer", "X-Got")
		for range 3 {
			io.WriteString(w, "piece")
			w.(http.Flusher).Flush()
			<-next
		}
		io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Got", r.Trailer.Get("X-End"))
		w.Header().Set(http.TrailerPrefix+"X-Late", "yes")
	})
	l := start(t, plugin(path), nil)
	l.upgraded("/x")
	resp := l.open("POST", "/stream", "", "Trailer", "X-End", "Transfer-Encoding", "chunked\r\n\r\n2\r\nhi\r\n0\r\nX-End: yes\r\n\r\nGET / HTTP/1.1\r\nHost")
	for range 3 {
		if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		next <- struct{}{}
	}
	io.ReadAll(resp.Body)
	if resp.Trailer.Get("X-Late") != "yes" || resp.Trailer.Get("X-Got") != "yes" {
		t.Error("no trailer", resp.Trailer)
	}
}

// What stands at the socket's place is looked at on every call.
func TestSocketRefused(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "p.sock")
	l := start(t, plugin(path), nil)
	refused := func(what, why string) {
		t.Helper()
		if resp, body := l.ask("GET", "/", ""); resp.StatusCode != 403 || resp.Header.Get("Lnk-Refused") != "socket" || !strings.Contains(body, why) || strings.Contains(body, dir) {
			t.Errorf("%s: %d %s", what, resp.StatusCode, body)
		}
	}
	refused("nothing", "not there")
	os.WriteFile(path, nil, 0o600)
	refused("a file", "is none")
	os.Remove(path)
	other := filepath.Join(dir, "o.sock")
	listen(t, other, echo)
	os.Symlink(other, path)
	refused("a link", "behind a link")
	os.Remove(path)
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	refused("nobody", "nobody listens")
	os.Remove(path)
	listen(t, path, echo)
	if resp, body := l.ask("GET", "/", ""); resp.StatusCode != 200 {
		t.Errorf("the plugin has come: %d %s", resp.StatusCode, body)
	}
	if os.Getuid() != 0 {
		return
	}
	other = filepath.Join(dir, "q.sock")
	listen(t, other, echo)
	if err := os.Lchown(other, 54321, 54321); err != nil {
		t.Fatal(err)
	}
	l = start(t, plugin(other), nil)
	refused("another user's", "another user")
}

// A link that was there before the program is the owner's.
func TestSocketBehindALinkOfItsOwner(t *testing.T) {
	dir := folder(t)
	os.Mkdir(filepath.Join(dir, "real"), 0o700)
	os.Symlink("real", filepath.Join(dir, "link"))
	path := filepath.Join(dir, "link", "p.sock")
	l := start(t, plugin(path), nil)
	listen(t, path, echo)
	if resp, body := l.ask("GET", "/", ""); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	// It leads elsewhere now, and the bridge does not.
	os.Mkdir(filepath.Join(dir, "evil"), 0o700)
	listen(t, filepath.Join(dir, "evil", "p.sock"), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(418) })
	os.Remove(filepath.Join(dir, "link"))
	os.Symlink("evil", filepath.Join(dir, "link"))
	if resp, body := l.ask("GET", "/", ""); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

func TestSocketIsCutByAStop(t *testing.T) {
	path := filepath.Join(folder(t), "p.sock")
	gone := make(chan struct{})
	listen(t, path, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "x")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	l := start(t, plugin(path), nil)
	resp := l.open("GET", "/", "")
	io.ReadFull(resp.Body, make([]byte, 1))
	l.proxy.Stop("")
	<-gone
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("an answer that was cut looks whole")
	}
}
