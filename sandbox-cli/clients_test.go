package cli_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// More clients reach the allowed host, each by the ways that it knows, and none
// of them the other.
func TestMoreClients(t *testing.T) {
	s := newSandbox(t)
	ca := s.trusted()
	s.put("get.py", `import sys, requests
session = requests.Session(); session.trust_env = sys.argv[3] == "env"
print(session.get(sys.argv[1], verify=sys.argv[2], timeout=20).text)
`)
	s.put("aio.py", `import asyncio, ssl, sys, aiohttp
async def main():
    async with aiohttp.ClientSession(trust_env=sys.argv[3] == "env") as s:
        async with s.get(sys.argv[1], ssl=ssl.create_default_context(cafile=sys.argv[2])) as r:
            print(await r.text())
asyncio.run(main())
`)
	s.put("ws.py", `import asyncio, ssl, sys, aiohttp
async def main():
    async with aiohttp.ClientSession(trust_env=sys.argv[3] == "env") as s:
        async with s.ws_connect(sys.argv[1].replace("http", "ws", 1).replace("/hello", "/socket"), ssl=ssl.create_default_context(cafile=sys.argv[2])) as w:
            await w.send_str("hello from " + sys.argv[1].split("/")[2])
            print((await w.receive(timeout=20)).data)
asyncio.run(main())
`)
	s.put("call.py", `import queue, sys, urllib.parse, grpc
host = urllib.parse.urlsplit(sys.argv[1]).hostname
credentials = grpc.ssl_channel_credentials(open(sys.argv[2], "rb").read())
options = [("grpc.enable_http_proxy", int(sys.argv[3] == "env"))]
with grpc.secure_channel(host + ":443", credentials, options) as channel:
    print(channel.unary_unary("/lab.Echo/Say")(b"hello from", timeout=20))
    asked = queue.SimpleQueue()
    answers = channel.stream_stream("/lab.Echo/Say")(iter(asked.get, None), timeout=20)
    for word in b"hello", b"hello " * 1000, b"from " + host.encode():
        asked.put(word)
        assert next(answers) == word  # before the next is asked
    asked.put(None)
    assert list(answers) == []
    print("hello from " + host)
`)
	python := "/usr/bin/python3"
	for name, client := range map[string]func(url string) []string{
		"wget": func(url string) []string {
			return []string{"wget", "-q", "-t1", "-T20", "-O-", "--ca-certificate=" + ca, url}
		},
		"wget without proxy": func(url string) []string {
			return []string{"wget", "-q", "-t1", "-T20", "-O-", "--no-proxy", "--ca-certificate=" + ca, url}
		},
		"curl on HTTP/2": func(url string) []string {
			return []string{"sh", "-c", "curl -sSf --http2 --max-time 20 -w '%{http_version}' --cacert " + ca + " " + url + " | grep -z '2$'"}
		},
		"requests":              func(url string) []string { return []string{python, "get.py", url, ca, "env"} },
		"requests, no proxy":    func(url string) []string { return []string{python, "get.py", url, ca, "none"} },
		"aiohttp":               func(url string) []string { return []string{python, "aio.py", url, ca, "env"} },
		"aiohttp, no proxy":     func(url string) []string { return []string{python, "aio.py", url, ca, "none"} },
		"gRPC":                  func(url string) []string { return []string{python, "call.py", url, ca, "env"} },
		"gRPC, no proxy":        func(url string) []string { return []string{python, "call.py", url, ca, "none"} },
		"a WebSocket":           func(url string) []string { return []string{python, "ws.py", url, ca, "env"} },
		"a WebSocket, no proxy": func(url string) []string { return []string{python, "ws.py", url, ca, "none"} },
		"a WebSocket, plain": func(url string) []string {
			return []string{python, "ws.py", strings.Replace(url, "https", "http", 1), ca, "none"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(host string) ended {
				return s.run(append([]string{"--write=" + s.project, allow, "--"}, client("https://"+host+"/hello")...)...)
			}
			if e := run(labtest.AllowedName); e.status != 0 || !strings.Contains(e.out, "hello from "+labtest.AllowedName) {
				t.Errorf("status %d, out %q, errors %q", e.status, e.out, e.errors)
			}
			if e := run(labtest.OtherName); e.status == 0 || e.status >= 125 || strings.Contains(e.out, "hello") {
				t.Errorf("another host: status %d, out %q, errors %q", e.status, e.out, e.errors)
			}
		})
	}
}

// ssh reaches a server at a port of this machine that is named, runs a command
// on it, and git clones over it.
func TestSSH(t *testing.T) {
	s := newSandbox(t)
	port := s.sshServer()
	key := filepath.Join(s.project, "key")
	ssh := fmt.Sprintf("ssh -F none -i %s -o UserKnownHostsFile=%s/known -o StrictHostKeyChecking=accept-new -o BatchMode=yes -p %d", key, s.project, port)
	grants := []string{"--write=" + s.project, fmt.Sprintf("--port=%d", port), "--"}
	if out := s.must(append(grants, "sh", "-c", ssh+" 127.0.0.1 echo from the server")...); !strings.Contains(out, "from the server") {
		t.Errorf("got %q", out)
	}
	repository := filepath.Join(s.root, "repository")
	for _, argv := range [][]string{
		{"git", "init", "-q", repository},
		{"git", "-C", repository, "-c", "user.name=lab", "-c", "user.email=lab@allowed.test", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", argv, err, out)
		}
	}
	out := s.must(append(grants, "env", "GIT_SSH_COMMAND="+ssh, "sh", "-c", "git clone -q ssh://127.0.0.1:"+fmt.Sprint(port)+repository+" cloned && git -C cloned log --format=%s")...)
	if out != "first\n" {
		t.Errorf("git over ssh: %q", out)
	}
	if e := s.run("--write="+s.project, allow, "--", "sh", "-c", ssh+" 127.0.0.1 true"); e.status != 255 {
		t.Errorf("a port that is not named: status %d: %s", e.status, e.errors)
	}
}

// sshServer starts sshd(8) as the caller, on loopback, for a key in the project.
func (s *sandbox) sshServer() (port int) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	dir := filepath.Join(s.root, "sshd")
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	for _, key := range []string{filepath.Join(dir, "host"), filepath.Join(s.project, "key")} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
			s.t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	allowed, err := os.ReadFile(filepath.Join(s.project, "key.pub"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "allowed"), allowed, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if os.Getuid() == 0 && os.Mkdir("/run/sshd", 0o755) == nil { // which a service manager makes, where there is one
		s.t.Cleanup(func() { os.Remove("/run/sshd") })
	}
	var log strings.Builder
	cmd := exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", "none", "-p", fmt.Sprint(port), "-h", filepath.Join(dir, "host"),
		"-o", "ListenAddress=127.0.0.1", "-o", "AuthorizedKeysFile="+filepath.Join(dir, "allowed"), "-o", "StrictModes=no",
		"-o", "PidFile=none", "-o", "UsePAM=no")
	said, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	buf := make([]byte, 4096)
	for !strings.Contains(log.String(), "listening on") {
		n, err := said.Read(buf)
		log.Write(buf[:n])
		if err != nil {
			s.t.Fatalf("sshd: %v: %s", err, log.String())
		}
	}
	go func() { // it must never wait for us to read
		for {
			if _, err := said.Read(buf); err != nil {
				return
			}
		}
	}()
	return port
}
