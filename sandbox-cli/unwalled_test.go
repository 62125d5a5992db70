package cli_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// unwalled asks wrap for the command that runs argv with no wall.
func (s *sandbox) unwalled(pointed bool, proxy map[string]any, argv ...string) (command []string, env map[string]string) {
	s.t.Helper()
	whole := map[string]any{"upstream": "direct", "dir": "/nonexistent", "hosts": []string{labtest.AllowedName}}
	for k, v := range proxy {
		whole[k] = v
	}
	request, err := json.Marshal(map[string]any{
		"unwalled": map[string]any{"name": "free", "proxy": whole, "pointed": pointed}, "argv": argv,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	e := s.command(string(request), []string{lnk(), "sandbox", "wrap"})
	if e.status != 0 {
		s.t.Fatalf("wrap: status %d: %s", e.status, e.errors)
	}
	var w struct {
		Argv []string
		Env  map[string]string
	}
	if err := json.Unmarshal([]byte(e.out), &w); err != nil {
		s.t.Fatal(err)
	}
	return w.Argv, w.Env
}

func listed(env map[string]string) []string {
	var all []string
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	return all
}

// A program with no wall is pointed at its proxy, which lets through what its
// rules say, to those who have the secret.
func TestUnwalledPointed(t *testing.T) {
	s := newSandbox(t)
	ca := s.trusted()
	url := "https://" + labtest.AllowedName + "/hello"
	argv, env := s.unwalled(true, nil, "sh", "-c", "curl -sS --cacert "+ca+" "+url+"; curl -sSk https://"+labtest.OtherName+"/ 2>&1; echo $HTTPS_PROXY; env | grep -c LNK_ ; exit 7")
	if env["HTTPS_PROXY"] == "" || !strings.HasSuffix(env["HTTPS_PROXY"], "@127.0.0.1:0") {
		t.Fatalf("env: %v", env)
	}
	e := s.command("", argv, append(listed(env), "https_proxy=http://127.0.0.1:1", "npm_config_https_proxy=http://127.0.0.1:1")...)
	lines := strings.Split(e.out, "\n")
	if e.status != 7 || len(lines) < 4 || lines[0] != "hello from "+labtest.AllowedName || !strings.Contains(lines[1], "403") {
		t.Fatalf("status %d, %q, %s", e.status, lines, e.errors)
	}
	if filled := lines[2]; strings.HasSuffix(filled, ":0") || !strings.HasPrefix(filled, strings.TrimSuffix(env["HTTPS_PROXY"], "0")) {
		t.Errorf("the program's HTTPS_PROXY is %s", filled)
	}
}

// Who has no secret is asked for it: another user of this machine's loopback.
func TestUnwalledAsksForItsSecret(t *testing.T) {
	s := newSandbox(t)
	for _, pointed := range []bool{true, false} {
		port := freePort(t)
		argv, env := s.unwalled(pointed, map[string]any{"listen": port}, "sh", "-c", "echo here; cat")
		r := s.begin(argv, listed(env)...)
		at := "127.0.0.1:" + strconv.Itoa(port)
		ask := func(user *url.Userinfo, target string) (int, string) {
			t.Helper()
			c := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: at, User: user}), DisableKeepAlives: true}}
			r, err := c.Get(target)
			if err != nil {
				return 0, err.Error()
			}
			defer r.Body.Close()
			b, _ := io.ReadAll(r.Body)
			return r.StatusCode, r.Header.Get("Proxy-Authenticate") + string(b)
		}
		plain, tls := "http://"+labtest.AllowedName+"/hello", "https://"+labtest.AllowedName+"/hello"
		if n, said := ask(nil, plain); n != 407 || !strings.HasPrefix(said, "Basic ") {
			t.Errorf("pointed %v, plain http: %d %s", pointed, n, said)
		}
		if _, said := ask(url.UserPassword("lnk", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), tls); !strings.Contains(said, "Proxy Authentication Required") {
			t.Errorf("pointed %v, CONNECT with another secret: %s", pointed, said)
		}
		for _, password := range []string{"", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
			e := s.command("", []string{"curl", "-sSk", "--max-time", "20", "--proxy", "socks5h://lnk:" + password + "@" + at, tls})
			if e.status == 0 {
				t.Errorf("pointed %v, SOCKS without the secret: %s", pointed, e.out)
			}
		}
		if pointed {
			u, err := url.Parse(env["HTTPS_PROXY"])
			if err != nil || u.Host != at {
				t.Fatalf("HTTPS_PROXY %s", env["HTTPS_PROXY"])
			}
			secret, _ := u.User.Password()
			if n, said := ask(url.UserPassword("anybody", secret), plain); n != 200 {
				t.Errorf("with it: %d %s", n, said)
			}
			e := s.command("", []string{"curl", "-sSk", "--max-time", "20", "--proxy", "socks5h://x:" + secret + "@" + at, tls})
			if e.status != 0 {
				t.Errorf("SOCKS with it: %s", e.errors)
			}
		}
		r.end(t)
		if _, err := net.Dial("tcp", at); err == nil {
			t.Error("the proxy is left")
		}
	}
}

// The listener that a caller holds is served as it is; the program has neither
// it nor the variable, and a call that came before is answered.
func TestUnwalledHeldPort(t *testing.T) {
	s := newSandbox(t)
	held, err := client.HoldPort(0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	early, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(int(held.Port())))
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	io.WriteString(early, "CONNECT x.test:443 HTTP/1.1\r\n\r\n")
	argv, env := s.unwalled(true, map[string]any{"listen": held.Port()}, "sh", "-c", "ls -l /proc/self/fd | grep -c socket:; env | grep -c LISTENER; cat")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.project, s.env(listed(env)...)
	if err := held.HandTo(cmd); err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	held.Close()
	answer := make([]byte, 12)
	if _, err := io.ReadFull(early, answer); err != nil || string(answer) != "HTTP/1.1 407" {
		t.Errorf("the early call: %q, %v", answer, err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if out.String() != "0\n0\n" {
		t.Errorf("sockets and variables of the program: %q", out.String())
	}
}

// What is no listener on 127.0.0.1 at the port is refused, and nothing is run.
func TestUnwalledRefusesWhatIsNoHeldPort(t *testing.T) {
	s := newSandbox(t)
	port := freePort(t)
	argv, env := s.unwalled(true, map[string]any{"listen": port}, "touch", "started")
	open := func(network, address string) *os.File {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		f, err := l.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	l := open("tcp4", "127.0.0.1:0")
	client, err := net.Dial("tcp", fileAddr(t, l))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	connected, err := client.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer connected.Close()
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for what, f := range map[string]*os.File{
		"another port": l, "every address": open("tcp4", "0.0.0.0:0"), "IPv6": open("tcp6", "[::1]:0"),
		"a unix socket": open("unix", filepath.Join(s.root, "x.sock")), "a connection": connected, "a file": null,
	} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.ExtraFiles = s.project, append(s.env(listed(env)...), "LNK_PROXY_LISTENER_FD=3"), []*os.File{f}
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), "want a listening TCP socket on 127.0.0.1:"+strconv.Itoa(port)) {
			t.Errorf("%s: status %d, %s", what, cmd.ProcessState.ExitCode(), out)
		}
	}
	for _, said := range []string{"", "x", "-1", "2", "03", "9"} {
		e := s.command("", argv, append(listed(env), "LNK_PROXY_LISTENER_FD="+said)...)
		if e.status != 125 {
			t.Errorf("%q: status %d, %s", said, e.status, e.errors)
		}
	}
	if _, err := os.Stat(filepath.Join(s.project, "started")); err == nil {
		t.Error("the program was run")
	}
}

func fileAddr(t *testing.T, f *os.File) string {
	t.Helper()
	l, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestUnwalledStatuses(t *testing.T) {
	s := newSandbox(t)
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
	}{"text": {"", 0o644}, "script": {"exit $1\n", 0o755}, "zeros": {"\x00\x00", 0o755}} {
		s.put(name, file.text)
		if err := os.Chmod(filepath.Join(s.project, name), file.mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		status int
		argv   []string
	}{
		{0, []string{"true"}}, {3, []string{"sh", "-c", "exit 3"}}, {143, []string{"sh", "-c", "kill -TERM $$"}},
		{127, []string{"no-such-program"}}, {126, []string{"./text"}}, {126, []string{"./zeros"}}, {4, []string{"./script", "4"}},
	} {
		command, env := s.unwalled(true, nil, c.argv...)
		if e := s.command("", command, listed(env)...); e.status != c.status {
			t.Errorf("%q: status %d, %s", c.argv, e.status, e.errors)
		}
	}
	command, env := s.unwalled(true, nil, "touch", "started")
	delete(env, "HTTPS_PROXY")
	if e := s.command("", command, listed(env)...); e.status != 2 || !strings.Contains(e.errors, "HTTPS_PROXY") {
		t.Errorf("without the secret: status %d, %s", e.status, e.errors)
	}
	if e := s.command("", command, append(listed(env), "HTTPS_PROXY=http://lnk:short@127.0.0.1:0")...); e.status != 2 || strings.Contains(e.errors, "lnk:short") {
		t.Errorf("with a short one: status %d, %s", e.status, e.errors)
	}
	for _, request := range []string{
		`{"unwalled": {"name": "x", "pointed": true, "proxy": {"upstream": "system", "dir": "/d"}}, "argv": ["true"]}`,
		`{"unwalled": {"name": "x", "pointed": true, "proxy": {"upstream": "http://a.test:1", "dir": "/d"}}, "argv": ["true"]}`,
	} {
		if e := s.command(request, []string{lnk(), "sandbox", "wrap"}); e.status != 2 || !strings.Contains(e.errors, "/unwalled/proxy/upstream: want direct") {
			t.Errorf("status %d, %s", e.status, e.errors)
		}
	}
}

// ssh goes through the proxy too: its proxy command reads the secret where it is.
func TestUnwalledProxyCommand(t *testing.T) {
	s := newSandbox(t)
	argv, env := s.unwalled(true, map[string]any{"tcp": []string{labtest.AllowedName + ":7777"}}, "sh", "-c",
		"echo ping | "+filepath.Join(filepath.Dir(lnk()), "lnk-sandbox")+" connect --by HTTPS_PROXY "+labtest.AllowedName+" 7777; "+
			filepath.Join(filepath.Dir(lnk()), "lnk-sandbox")+" connect --by HTTPS_PROXY "+labtest.OtherName+" 7777 </dev/null")
	e := s.command("", argv, listed(env)...)
	if e.out != "ping\n" || e.status != 1 || !strings.Contains(e.errors, "no rule names this host") {
		t.Errorf("status %d, %q, %s", e.status, e.out, e.errors)
	}
	if !slices.Contains(strings.Fields(env["GIT_SSH_COMMAND"]), "connect") {
		t.Errorf("GIT_SSH_COMMAND=%s", env["GIT_SSH_COMMAND"])
	}
}

// Every route of a proxy on loopback is under its secret, whether or not it asks
// for that: the loopback is everybody's. What was read of it lies nowhere.
func TestUnwalledRoutesAreUnderTheSecret(t *testing.T) {
	s := newSandbox(t)
	routes := []map[string]any{{"name": "t", "tool": map[string]any{"argv": []string{"/bin/echo", "outside"}, "ask": "none", "allow": []any{}}}}
	argv, env := s.unwalled(true, map[string]any{"routes": routes}, "sh", "-c",
		`port=${HTTPS_PROXY##*:}; curl -sS --noproxy '*' -o /dev/null -w '%{http_code}\n' -X POST http://127.0.0.1:$port/tool/t/
		curl -sSf --noproxy '*' -o /dev/null -w '%{http_code}\n' -X POST $LNK_TOOL_T; ls `+s.home+`/.lnk/sandbox | grep -c -e routes -e secret`)
	e := s.command("", argv, listed(env)...)
	if e.out != "404\n200\n0\n" {
		t.Errorf("%q %s", e.out, e.errors)
	}
}

// What is sent to the proxy reaches the program, which ends as it would without.
func TestUnwalledPassesSignalsOn(t *testing.T) {
	s := newSandbox(t)
	argv, env := s.unwalled(true, nil, "sh", "-c", "trap 'echo got it; exit 6' TERM; echo here; while :; do sleep 0.05; done")
	r := s.begin(argv, listed(env)...)
	r.cmd.Process.Signal(syscall.SIGTERM)
	if line, err := r.out.ReadString('\n'); line != "got it\n" {
		t.Errorf("said %q, %v", line, err)
	}
	r.cmd.Wait()
	if status := r.cmd.ProcessState.ExitCode(); status != 6 {
		t.Errorf("status %d", status)
	}
	// Killed, it takes the program with it.
	r = s.begin(argv, listed(env)...)
	r.cmd.Process.Kill()
	if line, err := r.out.ReadString('\n'); err != io.EOF {
		t.Errorf("said %q, %v", line, err)
	}
}
