package cli_test

import (
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

const allow = "--internet-host=" + labtest.AllowedName

// Every kind of client reaches the allowed host: those that use the proxy
// variables, those that never heard of them, and those that had them taken away.
func TestClientsReachTheAllowedHost(t *testing.T) {
	s := newSandbox(t)
	ca := s.trusted()
	url := "https://" + labtest.AllowedName + "/hello"
	greeting := "hello from " + labtest.AllowedName
	s.put("fetch.mjs", "const r = await fetch(process.argv[2]); console.log(await r.text())\n")
	s.put("fetch.py", "import ssl, sys, urllib.request as u\nc = ssl.create_default_context(cafile=sys.argv[2])\nprint(u.urlopen(sys.argv[1], context=c).read().decode())\n")
	s.put("direct.py", "import ssl, sys, urllib.request as u\nc = ssl.create_default_context(cafile=sys.argv[2])\no = u.build_opener(u.ProxyHandler({}), u.HTTPSHandler(context=c))\nprint(o.open(sys.argv[1]).read().decode())\n")
	for name, argv := range map[string][]string{
		"curl with the variables":      {"curl", "-sS", "--cacert", ca, url},
		"curl that ignores them":       {"curl", "-sS", "--noproxy", "*", "--cacert", ca, url},
		"curl without an environment":  {"env", "-i", "/usr/bin/curl", "-sS", "--cacert", ca, url},
		"curl on plain http":           {"curl", "-sS", "http://" + labtest.AllowedName + "/hello"},
		"curl on plain http, direct":   {"curl", "-sS", "--noproxy", "*", "http://" + labtest.AllowedName + "/hello"},
		"curl by IPv6 alone":           {"curl", "-6", "-sS", "--noproxy", "*", "--cacert", ca, url},
		"node's fetch":                 {"env", "NODE_EXTRA_CA_CERTS=" + ca, "node", "fetch.mjs", url},
		"python's urllib":              {"/usr/bin/python3", "fetch.py", url, ca},
		"python's urllib, no proxy":    {"/usr/bin/python3", "direct.py", url, ca},
		"git that clones over https":   {"sh", "-c", "git -c http.sslCAInfo=" + ca + " clone -q https://" + labtest.AllowedName + "/git/project.git cloned && git -C cloned log --format='hello from %s' | sed s/first/" + labtest.AllowedName + "/"},
		"git without proxy variables":  {"sh", "-c", "env -u https_proxy -u HTTPS_PROXY git -c http.sslCAInfo=" + ca + " ls-remote https://" + labtest.AllowedName + "/git/project.git >/dev/null && echo " + greeting},
		"curl through SOCKS":           {"sh", "-c", "curl -sS --cacert " + ca + " --proxy socks5h://${HTTP_PROXY#http://} " + url},
		"curl that looks up first":     {"sh", "-c", "curl -sS --cacert " + ca + " --proxy socks5://${HTTP_PROXY#http://} " + url},
		"a program of the system's Go": {goFetcher(t, s), url, ca},
	} {
		t.Run(name, func(t *testing.T) {
			e := s.run(append([]string{"--write=" + s.project, allow, "--"}, argv...)...)
			if e.status != 0 || !strings.Contains(e.out, greeting) {
				t.Fatalf("status %d, out %q, errors %q", e.status, e.out, e.errors)
			}
		})
	}
}

// goFetcher builds a Go program that sets no proxy.
func goFetcher(t *testing.T, s *sandbox) string {
	t.Helper()
	s.put("fetcher/go.mod", "module fetcher\n\ngo 1.24\n")
	s.put("fetcher/main.go", `package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
)

func main() {
	pem, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	r, err := c.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, r.Body)
}
`)
	cmd := exec.Command("go", "build", "-o", "../fetch", ".")
	cmd.Dir = s.project + "/fetcher"
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return s.project + "/fetch"
}

// No client reaches a host that is not listed, whatever way it takes, and the
// line that says what would open it names it.
func TestAnotherHostIsRefused(t *testing.T) {
	s := newSandbox(t)
	other := "https://" + labtest.OtherName + "/hello"
	before := len(labtest.Requests(t))
	for name, argv := range map[string][]string{
		"by the proxy":     {"curl", "-sSk", "--max-time", "20", other},
		"carried":          {"curl", "-sSk", "--max-time", "20", "--noproxy", "*", other},
		"plain http":       {"curl", "-sSf", "--max-time", "20", "http://" + labtest.OtherName + "/hello"},
		"by its address":   {"curl", "-sSk", "--max-time", "20", "--noproxy", "*", "https://" + labtest.OtherAddr + "/hello"},
		"of the LAN":       {"curl", "-sSk", "--max-time", "20", "https://" + labtest.LANAddr + "/hello"},
		"through SOCKS":    {"sh", "-c", "curl -sSk --max-time 20 --proxy socks5h://${HTTP_PROXY#http://} " + other},
		"another port":     {"curl", "-sSk", "--max-time", "20", "https://" + labtest.AllowedName + ":7777/"},
		"another name's":   {"curl", "-sSk", "--max-time", "20", "--connect-to", labtest.AllowedName + ":443:" + labtest.AllowedName + ":443", "--proxy-header", "Host: " + labtest.AllowedName, other},
		"a TLS name apart": {"curl", "-sSk", "--max-time", "20", "--connect-to", labtest.OtherName + ":443:" + labtest.AllowedName + ":443", other},
	} {
		t.Run(name, func(t *testing.T) {
			e := s.run(append([]string{"--write=" + s.project, allow, "--"}, argv...)...)
			if e.status == 0 || e.status >= 125 {
				t.Fatalf("status %d, out %q, errors %q", e.status, e.out, e.errors)
			}
		})
	}
	if now := labtest.Requests(t); len(now) != before {
		t.Errorf("the world was asked: %q", now[before:])
	}
	e := s.run("--write="+s.project, allow, "--", "curl", "-sSk", other)
	if want := "--internet-host " + labtest.OtherName; !strings.Contains(e.errors, want) {
		t.Errorf("nothing says %q: %q", want, e.errors)
	}
}

// A name that no rule admits is answered inside, at once, and asked of nobody.
func TestNoQueryLeaves(t *testing.T) {
	s := newSandbox(t)
	before := labtest.Queries(t)
	e := s.run("--write="+s.project, allow, "--", "getent", "hosts", "secret-data."+labtest.OtherName)
	if e.status != 2 { // getent(1): one of the keys was not found
		t.Fatalf("status %d, out %q, errors %q", e.status, e.out, e.errors)
	}
	for _, argv := range [][]string{
		{"curl", "-s", "http://secret-data.other.test/"},
		{"curl", "-s", "--noproxy", "*", "http://secret-data.other.test/"},
		{"sh", "-c", "curl -s --proxy socks5h://${HTTP_PROXY#http://} http://secret-data.other.test/"},
	} {
		s.run(append([]string{"--write=" + s.project, allow, "--"}, argv...)...)
	}
	for _, q := range labtest.Queries(t)[len(before):] {
		if strings.Contains(q, "secret-data") {
			t.Errorf("asked of the world: %s", q)
		}
	}
	// An allowed name is asked by the proxy alone, and only when it is called.
	if out := s.must("--write="+s.project, allow, "--", "getent", "hosts", labtest.AllowedName); out == "" {
		t.Error("the allowed name has no address inside")
	}
}

// Names of a service of a host that is reached, as apt asks for, have nothing to
// open; of those of another host's the host is told.
func TestNamesOfServices(t *testing.T) {
	s := newSandbox(t)
	s.put("service.py", `import socket, struct, sys
for name in sys.argv[1:]:
    q = b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0"
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20); s.connect(("127.0.0.1", 53))
    s.send(struct.pack("!HHHHHH", 7, 256, 1, 0, 0, 0) + q + struct.pack("!HH", 33, 1)); print(s.recv(512)[3] & 15)
`)
	e := s.run("--write="+s.project, allow, "--", "/usr/bin/python3", "service.py", "_http._tcp."+labtest.AllowedName, "_http._tcp."+labtest.OtherName)
	if e.status != 0 || e.out != "3\n3\n" { // NXDOMAIN
		t.Errorf("status %d, out %q, errors %q", e.status, e.out, e.errors)
	}
	if strings.Contains(e.errors, labtest.AllowedName) || !strings.Contains(e.errors, "--internet-host "+labtest.OtherName+", or --tcp "+labtest.OtherName+":<port> ") || strings.Contains(e.errors, "_http") {
		t.Errorf("told %q", e.errors)
	}
}

// A name with one refused address is refused, though its other address is fine.
func TestNameWithAPrivateAddressIsRefused(t *testing.T) {
	s := newSandbox(t)
	for _, name := range []string{labtest.MixedName, labtest.LANName} {
		e := s.run("--write="+s.project, "--internet-host="+name, "--", "curl", "-sSk", "--max-time", "20", "https://"+name+"/hello")
		if e.status == 0 || strings.Contains(e.out, "hello") {
			t.Errorf("%s was reached", name)
		}
	}
}

// UDP is refused with an error, not left to time out.
func TestUDPIsRefused(t *testing.T) {
	s := newSandbox(t)
	s.put("udp.py", `import errno, socket, sys, time
for port in (443, 123, 5353):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20)
    try:
        s.connect((sys.argv[1], port)); s.send(b"x"); s.recv(1)
        sys.exit("answered")
    except TimeoutError: sys.exit("timed out")
    except OSError as e: print(errno.errorcode[e.errno])
`)
	e := s.run("--write="+s.project, allow, "--", "/usr/bin/python3", "udp.py", labtest.ServerAddr)
	if e.status != 0 {
		t.Fatalf("status %d: %s%s", e.status, e.out, e.errors)
	}
}

// Any protocol goes to a tcp entry, and to no other port.
func TestTCPEntry(t *testing.T) {
	s := newSandbox(t)
	s.put("echo.py", `import socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20); s.sendall(b"ping"); s.shutdown(1)
d = b""
while True:
    b = s.recv(100)
    if not b: break
    d += b
print(d.decode())
`)
	grants := []string{"--write=" + s.project, "--tcp=" + labtest.AllowedName + ":7777", "--"}
	if out := s.must(append(grants, "/usr/bin/python3", "echo.py", labtest.AllowedName, "7777")...); out != "ping\n" {
		t.Errorf("got %q", out)
	}
	if e := s.run(append(grants, "/usr/bin/python3", "echo.py", labtest.AllowedName, "80")...); e.status == 0 {
		t.Error("another port was reached")
	}
	if e := s.run("--write="+s.project, allow, "--", "/usr/bin/python3", "echo.py", labtest.AllowedName, "7777"); e.status == 0 {
		t.Error("a host opened a port that is neither 80 nor 443")
	}
}

// An address that no rule names is refused before a connection is made, and one
// that a rule names is reached, also by a program that knows of no proxy.
func TestAddresses(t *testing.T) {
	s := newSandbox(t)
	connect := []string{"/usr/bin/python3", "-c", "import socket,sys; socket.create_connection((sys.argv[1],int(sys.argv[2])),20); print('made')"}
	to := func(addr, port string) []string { return append(slices.Clone(connect), addr, port) }
	for _, addr := range []string{labtest.ServerAddr, labtest.OtherAddr, labtest.LANAddr, "192.0.2.1", "2001:db8::1", "169.254.169.254"} {
		e := s.run(slices.Concat([]string{"--write=" + s.project, allow, "--"}, to(addr, "443"))...)
		if e.status != 1 || !strings.Contains(e.errors, "ConnectionRefusedError") {
			t.Errorf("%s: status %d: %s%s", addr, e.status, e.out, e.errors)
		}
	}
	named := []string{"--write=" + s.project, "--tcp=" + labtest.OtherAddr + ":7777", "--"}
	if out := s.must(slices.Concat(named, to(labtest.OtherAddr, "7777"))...); out != "made\n" {
		t.Errorf("got %q", out)
	}
	if e := s.run(slices.Concat(named, to(labtest.ServerAddr, "7777"))...); e.status != 1 {
		t.Errorf("another address: status %d", e.status)
	}
}

// A port of this machine's loopback is reached when it is named, and no other.
func TestPortOfThisMachine(t *testing.T) {
	s := newSandbox(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("of this machine"))
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	read := []string{"/usr/bin/python3", "-c", "import socket,sys; print(socket.create_connection(('127.0.0.1',int(sys.argv[1])),10).recv(100).decode())", port}
	if out := s.must(slices.Concat([]string{"--write=" + s.project, "--port=" + port, "--"}, read)...); out != "of this machine\n" {
		t.Errorf("got %q", out)
	}
	for _, grants := range [][]string{{"--write=" + s.project, "--"}, {"--write=" + s.project, allow, "--"}} {
		if e := s.run(slices.Concat(grants, read)...); e.status == 0 {
			t.Errorf("%q: reached a port of this machine", grants)
		}
	}
}
