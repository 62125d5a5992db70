package cli_test

import (
	"strings"
	"testing"
)

// A sandbox's own servers are called directly by every name that people give
// them, and what a caller has of proxies goes before none of the sandbox's.
func TestOwnServersAndCallersProxies(t *testing.T) {
	s := newSandbox(t)
	s.put("server.py", `import socket, subprocess, sys, threading
from http.server import *
class Server(ThreadingHTTPServer): address_family = socket.AF_INET6
class Own(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "4"); self.end_headers(); self.wfile.write(b"own\n")
    def log_message(self, *a): pass
server = Server(("::", 0), Own)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.exit(subprocess.run(["sh", "-c", sys.argv[1], "sh", str(server.server_address[1])]).returncode)
`)
	argv, env := s.wrapArgv(s.proxied("allowed.test"), "/usr/bin/python3", "server.py", `
for name in localhost localhost. 127.0.0.1 '[::1]' 0.0.0.0 '[::]' "$(hostname)" ip6-localhost; do
	echo "$name $(curl -sS --max-time 20 "http://$name:$1/") $(/usr/bin/python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).read().decode())' "http://$name:$1/")"
done
env | grep -i proxy= | grep -v NODE | LC_ALL=C sort`)
	caller := []string{"ALL_PROXY=socks5h://192.0.2.1:1", "all_proxy=socks5h://192.0.2.1:1", "npm_config_https_proxy=http://192.0.2.1:1", "no_proxy=*", "HTTPS_PROXY=http://192.0.2.1:1"}
	e := s.command("", argv, append(caller, env...)...)
	names := "localhost,.localhost,localhost.,127.0.0.1,127.0.0.0/8,::1,0.0.0.0,::,lnk,ip6-localhost,ip6-loopback"
	at := "=http://127.0.0.1:19190"
	want := strings.Join([]string{
		"localhost own own", "localhost. own own", "127.0.0.1 own own", "[::1] own own", "0.0.0.0 own own", "[::] own own", "lnk own own", "ip6-localhost own own",
		"HTTPS_PROXY" + at, "HTTP_PROXY" + at, "NO_PROXY=" + names,
		"http_proxy" + at, "https_proxy" + at, "no_proxy=" + names, "npm_config_https_proxy" + at, "npm_config_proxy" + at, "",
	}, "\n")
	if e.status != 0 || e.out != want {
		t.Errorf("status %d, errors %q, out\n%s\nwant\n%s", e.status, e.errors, e.out, want)
	}
}
