package cli_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// blank starts a blank proxy in dir, and gives its control socket.
func (s *sandbox) blank(dir string, more ...string) string {
	s.t.Helper()
	control := filepath.Join(s.root, "control.sock")
	s.background(append([]string{filepath.Join(filepath.Dir(lnk()), "lnk-sandbox"), "proxy", "--blank", "--control", control, "--dir", dir}, more...))
	awaited(s.t, "control", listens(control))
	return control
}

// A blank proxy answers 503 until it is bound, is then what it was bound with,
// and stays that.
func TestBlankProxy(t *testing.T) {
	s := newSandbox(t)
	dir := filepath.Join(s.root, "way")
	control := s.blank(dir, "--hold")
	if info, err := os.Stat(control); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("control: %v, %v", info, err)
	}
	allowed := "http://" + labtest.AllowedName + "/hello"
	before := len(labtest.Queries(t))
	if n, said := byFolder(dir, allowed); n != 503 {
		t.Errorf("blank: %d %s", n, said)
	}
	taken := of(t, "127.0.0.1:0", "").Port()
	reach := of(t, "127.0.0.1:0", "reached").Port()
	ctx := context.Background()
	for want, bad := range map[string]client.ProxyBind{
		"not in normal form": {Upstream: "direct", Host: []string{"2001:db8::1"}},
		"in use":             {Upstream: "direct", Serve: []uint16{taken}},
		"it is reached too":  {Upstream: "direct", Serve: []uint16{3000}, Reach: []uint16{3000}},
	} {
		if err := client.BindProxy(ctx, control, bad); !errors.Is(err, client.ErrRequest) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if n, said := byFolder(dir, allowed); n != 503 {
			t.Errorf("after %s: %d %s", want, n, said)
		}
	}
	if n := len(labtest.Queries(t)); n != before {
		t.Error("a blank proxy asked for a name")
	}
	inside := of(t, "127.0.0.1:0", "desktop").Port()
	bind := client.ProxyBind{Name: "box", Wire: "agent-one", Upstream: "direct", Host: []string{labtest.AllowedName}, Reach: []uint16{reach}, Desktop: inside}
	if err := client.BindProxy(ctx, control, bind); err != nil {
		t.Fatal(err)
	}
	if n, said := byFolder(dir, allowed); n != 200 {
		t.Errorf("bound: %d %s", n, said)
	}
	if n, said := byFolder(dir, "http://"+labtest.OtherName+"/hello"); n != 403 {
		t.Errorf("bound, another host: %d %s", n, said)
	}
	if got := connected(t, filepath.Join(dir, "out.sock"), "127.0.0.1:"+strconv.Itoa(int(reach))); got != "reached" {
		t.Errorf("reach: %q", got)
	}
	if got := connected(t, filepath.Join(dir, "out.sock"), "127.0.0.1:"+strconv.Itoa(int(taken))); !strings.Contains(got, "403") {
		t.Errorf("another port: %q", got)
	}
	bind.Host = nil
	if err := client.BindProxy(ctx, control, bind); !errors.Is(err, client.ErrRequest) || !strings.Contains(err.Error(), "bound already") {
		t.Errorf("a second bind: %v", err)
	}
	// The desktop is on its socket and nowhere else, by the relay inside.
	r := s.begin([]string{filepath.Join(filepath.Dir(lnk()), "lnk-sandbox"), "proxy-inside", "--also", dir + "=" + strconv.Itoa(freePort(t)), "--", "sh", "-c", "echo here; cat"})
	c, err := net.Dial("unix", filepath.Join(dir, "desktop.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := make([]byte, 8)
	if n, err := c.Read(b); string(b[:n]) != "desktop\n" {
		t.Errorf("desktop: %q, %v", b[:n], err)
	}
	r.end(t)
	if e := s.command("", []string{lnk(), "sandbox", "traffic"}); !strings.Contains(e.out, "agent-one") {
		t.Errorf("traffic: %s%s", e.out, e.errors)
	}
	if e := s.command("", []string{lnk(), "sandbox", "pause", "agent-one"}); e.status != 0 {
		t.Errorf("pause: %s", e.errors)
	}
	if n, said := byFolder(dir, allowed); n != 503 {
		t.Errorf("paused: %d %s", n, said)
	}
}

// connected is what a host says in a tunnel by a socket, or the proxy's answer.
func connected(t *testing.T, socket, target string) string {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"))
	var all strings.Builder
	b := make([]byte, 4096)
	for {
		n, err := c.Read(b)
		all.Write(b[:n])
		if err != nil {
			break
		}
	}
	if _, after, ok := strings.Cut(all.String(), "200 Connection established\r\n\r\n"); ok {
		return strings.TrimSpace(after)
	}
	return all.String()
}

// Who may bind is asked of the connection: not another user, though the socket
// let him in; the binder, though he is another.
func TestBinder(t *testing.T) {
	s := newSandbox(t)
	if os.Getuid() != 0 {
		t.Skip("needs root: to be two users")
	}
	const binder, other = 61243, 61244
	dir := filepath.Join(s.root, "way")
	control := s.blank(dir, "--binder", strconv.Itoa(binder), "--hold")
	for _, path := range []string{control, s.root} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		uid  int
		want string
	}{{other, `{"error":"user 61244 may not bind this proxy"}`}, {binder, "{}"}} {
		id := strconv.Itoa(c.uid)
		e := s.command("", []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "/usr/bin/python3", "-c",
			"import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'{\"upstream\":\"direct\"}\\n'); print(s.makefile().readline())", control})
		if strings.TrimSpace(e.out) != c.want {
			t.Errorf("user %d: %q%s", c.uid, e.out, e.errors)
		}
	}
}

// With a command the proxy ends with it, with its status.
func TestBlankProxyRunsACommand(t *testing.T) {
	s := newSandbox(t)
	lnkSandbox := filepath.Join(filepath.Dir(lnk()), "lnk-sandbox")
	control, dir := filepath.Join(s.root, "control.sock"), filepath.Join(s.root, "way")
	e := s.command("", []string{lnkSandbox, "proxy", "--blank", "--control", control, "--dir", dir, "--", "sh", "-c",
		"curl -s -o /dev/null -w '%{http_code}\\n' --unix-socket " + dir + "/out.sock http://x/; exit 5"})
	if e.status != 5 || e.out != "503\n" {
		t.Errorf("status %d, %q, %s", e.status, e.out, e.errors)
	}
	for _, left := range []string{control, filepath.Join(dir, "out.sock")} {
		if _, err := os.Lstat(left); err == nil {
			t.Errorf("%s is left", left)
		}
	}
	for _, bad := range [][]string{
		{"--hold"}, {"--control", control, "--hold"}, {"--dir", dir, "--hold"}, {"--control", control, "--dir", dir},
		{"--control", control, "--dir", dir, "--listen", "0", "--hold"}, {"--control", control, "--dir", dir, "--dns", "--hold"},
		{"--control", control, "--dir", dir, "--host", "a.test", "--hold"}, {"--control", "c.sock", "--dir", dir, "--hold"},
	} {
		if e := s.command("", append([]string{lnkSandbox, "proxy", "--blank"}, bad...)); e.status != 2 {
			t.Errorf("%q: status %d, %s", bad, e.status, e.errors)
		}
	}
}
