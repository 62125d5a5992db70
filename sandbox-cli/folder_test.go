package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// wrapArgv asks wrap for the command of a confinement, and its environment.
func (s *sandbox) wrapArgv(net any, argv ...string) ([]string, []string) {
	s.t.Helper()
	request, err := json.Marshal(map[string]any{"confinement": s.confinement(net), "argv": argv})
	if err != nil {
		s.t.Fatal(err)
	}
	made := s.command(string(request), []string{lnk(), "sandbox", "wrap"})
	if made.status != 0 {
		s.t.Fatalf("wrap: status %d: %s", made.status, made.errors)
	}
	var w struct {
		Argv []string
		Env  map[string]string
	}
	if err := json.Unmarshal([]byte(made.out), &w); err != nil {
		s.t.Fatal(err)
	}
	return w.Argv, listed(w.Env)
}

// background starts a command that says nothing and goes on until the test ends.
func (s *sandbox) background(argv []string, env ...string) *exec.Cmd {
	s.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.project, s.env(env...), os.Stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// awaited waits for something that a process which says nothing does.
func awaited(t testing.TB, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(hangGuard); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in time", what)
		}
	}
}

func listens(path string) func() bool {
	return func() bool {
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
}

// byFolder asks a proxy's out.sock for an address.
func byFolder(dir, url string) (int, string) {
	c := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		Proxy: http.ProxyURL(must(http.NewRequest("GET", "http://proxy.test", nil)).URL),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "out.sock"))
		}}}
	r, err := c.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// hold is a proxy that holds no program.
func (s *sandbox) hold(dir string, proxy map[string]any) *exec.Cmd {
	s.t.Helper()
	whole := map[string]any{"upstream": "direct", "dir": dir, "hold": true}
	for k, v := range proxy {
		whole[k] = v
	}
	argv, env := s.wrapArgv(map[string]any{"proxied": map[string]any{"proxy": whole, "ports": []int{}}}, "true")
	cmd := s.background(argv, env...)
	awaited(s.t, "out.sock", listens(filepath.Join(dir, "out.sock")))
	return cmd
}

// Two proxies that others run, and one sandbox that reaches both, each with its
// own rules at its own port, and nothing else.
func TestReaching(t *testing.T) {
	s := newSandbox(t)
	ca := s.trusted()
	one, two := filepath.Join(s.root, "one"), filepath.Join(s.root, "two")
	if err := os.Mkdir(two, 0o700); err != nil {
		t.Fatal(err)
	}
	served, first := freePort(t), freePort(t)
	s.hold(one, map[string]any{"hosts": []string{labtest.AllowedName}, "serve": []int{served, first}})
	s.hold(two, map[string]any{"hosts": []string{labtest.OtherName}})
	open, shut := of(t, "127.0.0.1:0", "open").Port(), of(t, "127.0.0.1:0", "shut").Port()
	network := map[string]any{"reaching": map[string]any{
		"reached": []map[string]any{{"dir": one, "port": first}, {"dir": two, "port": 19201}}, "ports": []uint16{open},
	}}
	at := strconv.Itoa(first)
	s.put("server.py", server)
	s.put("say.py", say)
	s.put("try.sh", `
get() { curl -sS --max-time 20 --cacert `+ca+` --proxy "$1" https://$2/hello 2>&1 | head -1; }
get http://127.0.0.1:`+at+` `+labtest.AllowedName+`
get http://[::1]:19201 `+labtest.OtherName+`
get http://127.0.0.1:`+at+` `+labtest.OtherName+`
get http://127.0.0.1:19201 `+labtest.AllowedName+`
get socks5h://127.0.0.1:`+at+` `+labtest.AllowedName+`
curl -sS --max-time 20 --noproxy '*' https://`+labtest.AllowedName+`/ 2>&1 | head -1
/usr/bin/python3 say.py 127.0.0.1:`+fmt.Sprint(open)+` 127.0.0.1:`+fmt.Sprint(shut)+` `+labtest.ServerAddr+`:80 127.0.0.1:53
ls -A `+one+` 2>&1 | head -1
`)
	argv, env := s.wrapArgv(network, "sh", "try.sh")
	e := s.command("", argv, env...)
	lines := strings.Split(e.out, "\n")
	for i, want := range []string{
		"hello from " + labtest.AllowedName, "hello from " + labtest.OtherName, "403", "403", "hello from " + labtest.AllowedName,
		"Could not resolve host", " open", " ECONNREFUSED", " ECONNREFUSED",
	} {
		if len(lines) <= i || !strings.Contains(lines[i], want) {
			t.Errorf("line %d: want %q in %q\n%s", i, want, lines, e.errors)
		}
	}
	if strings.Contains(e.out, "out.sock") {
		t.Error("the proxy's folder is in view")
	}
	// A port inside is served by the proxy that says so, through in.sock.
	argv, env = s.wrapArgv(network, "/usr/bin/python3", "-u", "server.py", strconv.Itoa(served), "4001")
	r := s.begin(argv, env...)
	if got, err := fetch("127.0.0.1", served, "/try.sh"); err != nil || !strings.Contains(got, "get()") {
		t.Errorf("served: %q, %v", got, err)
	}
	if got, err := fetch("127.0.0.1", first, "/"); err == nil {
		t.Errorf("a call that comes in goes out again by the relay's own port: %q", got)
	}
	r.end(t)
	if _, err := os.Stat(filepath.Join(one, "in.sock")); err == nil {
		t.Error("in.sock is left")
	}
	if _, err := fetch("127.0.0.1", served, "/"); err == nil {
		t.Error("served by nobody")
	}
}

// The relay is killed: the program ends with it.
func TestReachingDiesWithItsRelay(t *testing.T) {
	s := newSandbox(t)
	argv, env := s.wrapArgv(map[string]any{"reaching": map[string]any{
		"reached": []map[string]any{{"dir": filepath.Join(s.root, "one"), "port": 19200}}, "ports": []int{},
	}}, "sh", "-c", "echo here; cat")
	r := s.begin(argv, env...)
	r.cmd.Process.Kill()
	if line, err := r.out.ReadString('\n'); err != io.EOF {
		t.Errorf("said %q, %v", line, err)
	}
}

// Inside what something else made the relay is alone: it listens in the network
// that it is started in, and its command is as it is.
func TestRelayAlone(t *testing.T) {
	s := newSandbox(t)
	dir := filepath.Join(s.root, "one")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, os.ModeSetgid|0o770); err != nil {
		t.Fatal(err)
	}
	s.hold(dir, map[string]any{"hosts": []string{labtest.AllowedName}})
	port := strconv.Itoa(freePort(t))
	lnkSandbox := filepath.Join(filepath.Dir(lnk()), "lnk-sandbox")
	e := s.command("", []string{lnkSandbox, "proxy-inside", "--also", dir + "=" + port, "--", "sh", "-c",
		"curl -sS --max-time 20 --proxy http://127.0.0.1:" + port + " http://" + labtest.AllowedName + "/hello; stat -c '%a' " + dir + "/in.sock " + dir + "/out.sock " + dir + "; exit 9"})
	if e.status != 9 || e.out != "hello from "+labtest.AllowedName+"\n660\n660\n2770\n" {
		t.Errorf("status %d, %q, %s", e.status, e.out, e.errors)
	}
}

// Folders that are not the user's alone or shared as they must be, links, and
// sockets that are served already are refused, and nothing is run.
func TestFoldersThatAreRefused(t *testing.T) {
	s := newSandbox(t)
	lnkSandbox := filepath.Join(filepath.Dir(lnk()), "lnk-sandbox")
	dir := func(name string, mode os.FileMode) string {
		at := filepath.Join(s.root, name)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
		return at
	}
	good := dir("good", 0o700)
	link := filepath.Join(s.root, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	taken := dir("taken", 0o700)
	for _, name := range []string{"out.sock", "in.sock"} {
		l, err := net.Listen("unix", filepath.Join(taken, name))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	file := dir("file", 0o700)
	for _, name := range []string{"out.sock", "in.sock"} {
		if err := os.WriteFile(filepath.Join(file, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open755, sticky := dir("open", 0o755), dir("sticky", 0o700)
	if err := os.WriteFile(filepath.Join(open755, "mail"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(sticky, os.ModeSticky|0o777); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		open755: "want 0700, or 2770", sticky: "want 0700, or 2770", link: "it is no folder",
		taken: "another is listening there", file: "something is there that is no socket",
		filepath.Join(s.root, "no", "where"): "no such file", good + "/": "absolute",
	} {
		for _, argv := range [][]string{
			{lnkSandbox, "proxy", "--name", "x", "--upstream", "direct", "--dir", at, "--", "touch", "started"},
			{lnkSandbox, "proxy-inside", "--also", at + "=19200", "--", "touch", "started"},
		} {
			if e := s.command("", argv); e.status != 125 && e.status != 2 || !strings.Contains(e.errors, want) || strings.Count(e.errors, "\n") != 1 {
				t.Errorf("%q: status %d, %s", argv[1:], e.status, e.errors)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(s.project, "started")); err == nil {
		t.Error("the command was run")
	}
}

// A proxy that holds nothing ends when it is told to, and leaves no socket; one
// that was killed leaves sockets that the next one replaces.
func TestHold(t *testing.T) {
	s := newSandbox(t)
	dir := filepath.Join(s.root, "way")
	cmd := s.hold(dir, map[string]any{"hosts": []string{labtest.AllowedName}})
	cmd.Process.Kill()
	cmd.Wait()
	cmd = s.hold(dir, map[string]any{"hosts": []string{labtest.AllowedName, labtest.AllowedName + ":7778"}})
	if n, said := byFolder(dir, "http://"+labtest.AllowedName+"/hello"); n != 200 {
		t.Errorf("%d %s", n, said)
	}
	if n, said := byFolder(dir, "http://"+labtest.OtherName+"/hello"); n != 403 {
		t.Errorf("%d %s", n, said)
	}
	for _, name := range []string{"out.sock", "dns.sock"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	// Names are told by dns.sock, as addresses that out.sock knows again.
	query := dns.Conn{Conn: must(net.Dial("unix", filepath.Join(dir, "dns.sock")))}
	defer query.Close()
	_, above, _ := strings.Cut(labtest.AllowedName, ".")
	for _, c := range []struct {
		name           string
		rcode, answers int
	}{{labtest.AllowedName, dns.RcodeSuccess, 1}, {labtest.OtherName, dns.RcodeNameError, 0}, {above, dns.RcodeSuccess, 0}} {
		if err := query.WriteMsg(new(dns.Msg).SetQuestion(c.name+".", dns.TypeA)); err != nil {
			t.Fatal(err)
		}
		a, err := query.ReadMsg()
		if err != nil || a.Rcode != c.rcode || len(a.Answer) != c.answers {
			t.Errorf("%s: %v, %v", c.name, a, err)
		}
		if len(a.Answer) > 0 {
			address := a.Answer[0].(*dns.A).A.String()
			if got := connected(t, filepath.Join(dir, "out.sock"), address+":7778"); got != "greeting" {
				t.Errorf("by its address: %q", got)
			}
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
