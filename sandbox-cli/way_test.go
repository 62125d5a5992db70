package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// freePort is one that nothing has on either loopback.
func freePort(t testing.TB) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		six, err := net.Listen("tcp6", "[::1]:"+strconv.Itoa(port))
		l.Close()
		if err == nil {
			six.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// of says text to who connects to an address of this machine.
func of(t testing.TB, address, text string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, text+"\n")
			c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// A running is a sandbox whose program has said a line and goes on.
type running struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// begin starts a command line and waits for its first line.
func (s *sandbox) begin(argv []string, env ...string) *running {
	s.t.Helper()
	r := &running{cmd: exec.Command(argv[0], argv[1:]...)}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = s.project, s.env(env...), os.Stderr
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { r.cmd.Process.Kill(); r.cmd.Wait() })
	guard := time.AfterFunc(hangGuard, func() { r.cmd.Process.Kill() })
	s.t.Cleanup(func() { guard.Stop() })
	r.out = bufio.NewReader(out)
	if line, err := r.out.ReadString('\n'); err != nil || line != "here\n" {
		s.t.Fatalf("%q: said %q, %v", argv, line, err)
	}
	return r
}

// end ends the program's input and waits for it.
func (r *running) end(t testing.TB) {
	t.Helper()
	r.in.Close()
	if err := r.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// server serves the project at the ports on 127.0.0.1, at the odd ones of its
// arguments on ::1, says "here", and ends with its input.
const server = `import http.server, os, socket, sys, threading
class Six(http.server.ThreadingHTTPServer): address_family = socket.AF_INET6
for i, port in enumerate(sys.argv[1:]):
    kind, at = (http.server.ThreadingHTTPServer, "127.0.0.1") if i % 2 == 0 else (Six, "::1")
    s = kind((at, int(port)), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=s.serve_forever, daemon=True).start()
print("here", flush=True)
sys.stdin.read()
`

// fetch asks one of this machine's loopbacks.
func fetch(host string, port int, path string) (string, error) {
	c := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get("http://" + net.JoinHostPort(host, strconv.Itoa(port)) + path)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

// Ports of the sandbox are served on both loopbacks of this machine, whichever
// of them the program listens on, and are gone with it.
func TestServe(t *testing.T) {
	s := newSandbox(t)
	s.put("server.py", server)
	s.put("big", strings.Repeat("0123456789abcdef", 1<<16))
	one, two, none := freePort(t), freePort(t), freePort(t)
	argv := []string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project}
	for _, p := range []int{one, two, none} {
		argv = append(argv, "--serve="+strconv.Itoa(p))
	}
	argv = append(argv, "--", "/usr/bin/python3", "-u", "server.py", strconv.Itoa(one), strconv.Itoa(two))
	r := s.begin(argv)
	for _, host := range []string{"127.0.0.1", "::1"} {
		for _, port := range []int{one, two} {
			if got, err := fetch(host, port, "/big"); err != nil || len(got) != 16<<16 {
				t.Errorf("%s port %d: %d bytes, %v", host, port, len(got), err)
			}
		}
		if got, err := fetch(host, none, "/"); err == nil {
			t.Errorf("%s: a port that nothing listens on inside: %q", host, got)
		}
		if _, err := net.Dial("tcp", net.JoinHostPort(labtest.HostAddr, strconv.Itoa(one))); err == nil {
			t.Error("it is served on the network, too")
		}
	}
	r.end(t)
	for _, host := range []string{"127.0.0.1", "::1"} {
		if _, err := fetch(host, one, "/"); err == nil {
			t.Errorf("%s: served by nobody", host)
		}
	}
}

// The owner of the ports is killed: they are gone at once, and so is what was
// served.
func TestServedPortsDieWithTheProxy(t *testing.T) {
	s := newSandbox(t)
	s.put("server.py", server)
	port := freePort(t)
	r := s.begin([]string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project, "--serve=" + strconv.Itoa(port), "--",
		"/usr/bin/python3", "-u", "server.py", strconv.Itoa(port)})
	if _, err := fetch("127.0.0.1", port, "/"); err != nil {
		t.Fatal(err)
	}
	r.cmd.Process.Kill()
	if line, err := r.out.ReadString('\n'); err != io.EOF { // the program had it too
		t.Errorf("said %q, %v", line, err)
	}
	if _, err := fetch("127.0.0.1", port, "/"); err == nil {
		t.Error("served by nobody")
	}
}

// A port that something else has is a start that fails, in one line, before
// anything is run.
func TestServeOfATakenPort(t *testing.T) {
	s := newSandbox(t)
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		port := of(t, address, "").Port()
		e := s.run("--serve="+strconv.Itoa(int(port)), "--", "touch", "started")
		want := fmt.Sprintf("lnk sandbox run: serve: port %d: address already in use: ", port)
		if e.status != 125 || !strings.HasPrefix(e.errors, want) || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("status %d, %q", e.status, e.errors)
		}
	}
	if _, err := os.Stat(filepath.Join(s.project, "started")); err == nil {
		t.Error("the program was run")
	}
}

// say is a program that prints what each address says to it, or the errno.
const say = `import errno, socket, sys
for at in sys.argv[1:]:
    host, port = at.rsplit(":", 1)
    try: print(at, socket.create_connection((host.strip("[]"), int(port)), 20).recv(100).decode().strip())
    except socket.gaierror as e: print(at, "no name")
    except OSError as e: print(at, errno.errorcode.get(e.errno, e))
`

// asks runs say inside and gives what it printed, by address.
func (s *sandbox) asks(net any, at ...string) map[string]string {
	s.t.Helper()
	s.put("say.py", say)
	e := s.wrapped(s.confinement(net), append([]string{"/usr/bin/python3", "say.py"}, at...)...)
	if e.status != 0 {
		s.t.Fatalf("status %d: %s%s", e.status, e.out, e.errors)
	}
	got := map[string]string{}
	for line := range strings.Lines(e.out) {
		at, word, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[at] = word
	}
	return got
}

func wantAll(t *testing.T, got, want map[string]string) {
	t.Helper()
	for at, word := range want {
		if got[at] != word {
			t.Errorf("%s: %q, want %q", at, got[at], word)
		}
	}
}

// With loopback the named ports of this machine are at both loopbacks inside,
// and there is nothing else: no other port, host, name or proxy.
func TestLoopback(t *testing.T) {
	s := newSandbox(t)
	open, shut := of(t, "127.0.0.1:0", "open").Port(), of(t, "127.0.0.1:0", "shut").Port()
	six := of(t, "[::1]:0", "six").Port()
	for six == open || six == shut { // the kernel gives out ports of each loopback by itself
		six = of(t, "[::1]:0", "six").Port()
	}
	net := map[string]any{"loopback": map[string]any{"ports": []uint16{open, six}, "dir": filepath.Join(s.root, "way")}}
	at := func(host string, port any) string { return fmt.Sprintf("%s:%v", host, port) }
	before := len(labtest.Queries(t))
	want := map[string]string{
		at("127.0.0.1", open): "open", at("[::1]", open): "open", at("localhost", open): "open",
		at("127.0.0.1", six): "six", at("[::1]", six): "six",
		at("127.0.0.1", shut): "ECONNREFUSED", at("127.0.0.1", 19190): "ECONNREFUSED",
		at(labtest.ServerAddr, 80): "ECONNREFUSED", at(labtest.HostAddr, open): "ECONNREFUSED",
		at(labtest.AllowedName, 80): "no name",
	}
	var addresses []string
	for a := range want {
		addresses = append(addresses, a)
	}
	wantAll(t, s.asks(net, addresses...), want)
	if n := len(labtest.Queries(t)); n != before {
		t.Error("a name was asked of the world")
	}
	if e := s.wrapped(s.confinement(net), "env"); strings.Contains(strings.ToLower(e.out), "_proxy=") {
		t.Errorf("variables point at a proxy: %s", e.out)
	}
	// The same by a spec.
	s.put("sandbox.toml", fmt.Sprintf("[files]\nwrite = [\".\"]\n[network]\nmode = \"loopback\"\nports = [%d]\n", open))
	out := s.must("--spec=sandbox.toml", "--", "/usr/bin/python3", "say.py", at("127.0.0.1", open), at("127.0.0.1", shut))
	if out != fmt.Sprintf("127.0.0.1:%d open\n127.0.0.1:%d ECONNREFUSED\n", open, shut) {
		t.Errorf("by a spec: %q", out)
	}
	e := s.run("--spec=sandbox.toml", "--", "getent", "hosts", labtest.AllowedName)
	if e.status != 2 || !strings.Contains(e.errors, `to open it: network.mode = "proxied"`) {
		t.Errorf("what would open it: status %d, %q", e.status, e.errors)
	}
}

// host without localhost reaches any address but this machine's own, by TCP and
// names; host with it is this machine's network.
func TestHost(t *testing.T) {
	s := newSandbox(t)
	open, shut := of(t, "127.0.0.1:0", "open").Port(), of(t, "127.0.0.1:0", "shut").Port()
	own := of(t, labtest.HostAddr+":0", "own").Port()
	at := func(host string, port any) string { return fmt.Sprintf("%s:%v", host, port) }
	echo := func(host string) string { return at(host, 7778) }
	got := func(localhost bool) map[string]string {
		return s.asks(map[string]any{"host": map[string]any{"ports": []uint16{open}, "localhost": localhost}},
			at("127.0.0.1", open), at("127.0.0.1", shut), at("[::ffff:127.0.0.1]", shut), at("127.0.0.2", shut), at("0.0.0.0", shut),
			at(labtest.HostAddr, own), echo(labtest.AllowedName), echo(labtest.ServerAddr), echo(labtest.LANAddr), echo("nowhere.test"))
	}
	closed := got(false)
	wantAll(t, closed, map[string]string{
		at("127.0.0.1", open): "open", at("127.0.0.1", shut): "ECONNREFUSED", at("127.0.0.2", shut): "ECONNREFUSED",
		at("0.0.0.0", shut):       "ECONNREFUSED",
		echo(labtest.AllowedName): "greeting", echo(labtest.ServerAddr): "greeting", echo(labtest.LANAddr): "greeting",
	})
	for _, a := range []string{at(labtest.HostAddr, own), at("[::ffff:127.0.0.1]", shut), echo("nowhere.test")} {
		if word := closed[a]; word != "ECONNREFUSED" && word != "ECONNRESET" && word != "" {
			t.Errorf("%s: %q", a, word)
		}
	}
	wantAll(t, got(true), map[string]string{
		at("127.0.0.1", open): "open", at("127.0.0.1", shut): "shut", at(labtest.HostAddr, own): "own",
		echo(labtest.AllowedName): "greeting", echo(labtest.ServerAddr): "greeting", echo(labtest.LANAddr): "greeting",
		echo("nowhere.test"): "no name",
	})
}

// UDP of host without localhost is refused at once; with it, it is this
// machine's.
func TestHostUDP(t *testing.T) {
	s := newSandbox(t)
	s.put("udp.py", `import errno, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20)
try: s.connect((sys.argv[1], 9)); s.send(b"x"); print("sent")
except OSError as e: print(errno.errorcode[e.errno])
`)
	for localhost, want := range map[bool]string{false: "EPERM", true: "sent"} {
		net := map[string]any{"host": map[string]any{"ports": []int{}, "localhost": localhost}}
		if e := s.wrapped(s.confinement(net), "/usr/bin/python3", "udp.py", labtest.ServerAddr); strings.TrimSpace(e.out) != want {
			t.Errorf("localhost %v: %q%s", localhost, e.out, e.errors)
		}
	}
}

// Abstract sockets of this machine are closed on its own network too, and so is
// what could change that network.
func TestHostKeepsAbstractSocketsClosed(t *testing.T) {
	s := newSandbox(t)
	name := fmt.Sprintf("lnk-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s.put("abstract.py", `import errno, socket, sys
def tried(f):
    try: f(); return "done"
    except OSError as e: return errno.errorcode[e.errno]
def connect(name):
    s = socket.socket(socket.AF_UNIX); s.connect("\0" + name)
def own():
    l = socket.socket(socket.AF_UNIX); l.bind("\0" + sys.argv[1] + "own"); l.listen(); connect(sys.argv[1] + "own")
print(tried(lambda: connect(sys.argv[1])), tried(own), tried(lambda: open("/proc/sys/net/ipv4/ip_forward", "w").write("1")),
    tried(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)), tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)))
`)
	for _, localhost := range []bool{false, true} {
		net := map[string]any{"host": map[string]any{"ports": []int{}, "localhost": localhost}}
		e := s.wrapped(s.confinement(net), "/usr/bin/python3", "abstract.py", name)
		words := strings.Fields(e.out)
		if len(words) != 5 || words[0] == "done" || words[1] != "done" || slices.Contains(words[2:], "done") {
			if localhost && strings.Contains(e.errors, "abstract unix sockets of the host are not closed") {
				continue // and said so: the kernel has no such scope
			}
			t.Errorf("localhost %v: %q%s", localhost, words, e.errors)
		}
	}
}
