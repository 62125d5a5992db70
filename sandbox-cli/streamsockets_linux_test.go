package cli_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// elsewhere tries to take each standard stream for a socket of this machine's
// network, to call a port of it with.
const elsewhere = `
import ctypes, socket, struct, sys
libc = ctypes.CDLL(None)
print("read", sys.stdin.readline().strip(), flush=True)
for fd in (0, 1, 2):
    try:
        s = socket.socket(fileno=fd)
        libc.connect(fd, struct.pack("=H14x", socket.AF_UNSPEC), 16)
        s.connect(("127.0.0.1", %d))
        s.send(b"out")
        s.detach()
    except OSError: pass
sys.stderr.write("ended\n")
`

// A connection of this machine's network that a standard stream is open on is
// served, and is no way into that network.
func TestStreamsOfANetwork(t *testing.T) {
	for _, flags := range []string{"", allow, "--bubblewrap"} {
		s := newSandbox(t)
		other := listenTCP(t)
		served := listenTCP(t)
		client, err := net.Dial("tcp", served.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		conn, err := served.Accept()
		if err != nil {
			t.Fatal(err)
		}
		file, err := conn.(*net.TCPConn).File()
		conn.Close()
		if err != nil {
			t.Fatal(err)
		}
		args := append([]string{"sandbox", "run", "--yes", "--write=" + s.project}, strings.Fields(flags)...)
		cmd := exec.Command(lnk(), append(args, "--", "python3", "-c", fmt.Sprintf(elsewhere, other.Addr().(*net.TCPAddr).Port))...)
		cmd.Dir, cmd.Env = s.project, s.env()
		cmd.Stdin, cmd.Stdout, cmd.Stderr = file, file, file
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		file.Close()
		fmt.Fprintln(client, "a word")
		client.SetReadDeadline(time.Now().Add(hangGuard))
		said, err := io.ReadAll(client)
		if err != nil || string(said) != "read a word\nended\n" {
			t.Errorf("%q: the client got %q, %v", flags, said, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q: %v", flags, err)
		}
		// Calls are accepted in order.
		last, err := net.Dial("tcp", other.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(last, "last")
		last.Close()
		first, err := other.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if said, _ := io.ReadAll(first); string(said) != "last" {
			t.Errorf("%q: a port of this machine was called, and got %q", flags, said)
		}
		first.Close()
	}
}

// A socket that can be sent or connected to anybody is refused as a stream, and so
// is what is no file.
func TestStreamsWithoutAConnection(t *testing.T) {
	s := newSandbox(t)
	udp, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	datagrams, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.root + "/datagrams", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, file *os.File, why string) {
		t.Helper()
		defer file.Close()
		cmd := exec.Command(lnk(), "sandbox", "run", "--yes", "--write="+s.project, "--", "true")
		cmd.Dir, cmd.Env, cmd.Stdin = s.project, s.env(), file
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), "standard input: is "+why) {
			t.Errorf("%s: status %d: %s", what, cmd.ProcessState.ExitCode(), out)
		}
	}
	refused("an event", os.NewFile(uintptr(event), "event"), "something of the kernel's that is no file")
	for what, f := range map[string]interface{ File() (*os.File, error) }{
		"a port": listenTCP(t).(*net.TCPListener), "udp": udp.(*net.UDPConn), "datagrams": datagrams,
	} {
		file, err := f.File()
		if err != nil {
			t.Fatal(err)
		}
		refused(what, file, "a socket without a connection")
	}
}

func listenTCP(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
