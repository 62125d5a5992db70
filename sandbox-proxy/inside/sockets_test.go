//go:build linux

package inside

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stayer is a stage that goes on as the wall does, in its own process: it
// serves two ports inside, and says when.
func stayer(args []string) error {
	fd, want, _, err := ParseFlags(args)
	if err != nil {
		return err
	}
	if err := Enter(fd, want); err != nil {
		return err
	}
	for _, at := range []string{"127.0.0.1:3000", "[::1]:3001"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			return err
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				fmt.Fprintln(c, "inside", at)
				c.Close()
			}
		}()
	}
	fmt.Println("here")
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// started is the role stayer, its sockets, and the end of its input.
func started(t *testing.T, want Want) (*Sockets, *exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command(self, "stayer")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h, err := Prepare(cmd, want)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args = append(cmd.Args, want.Flags(h.FD())...)
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); h.Close() })
	l, err := h.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := h.Go(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "here\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return h.Sockets(), cmd, in
}

func said(c net.Conn, err error) string {
	if err != nil {
		return reason(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(hang / 2))
	b, err := io.ReadAll(c)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

// What listens inside is reached from outside, on either loopback, and nothing
// of the machine's is in its place.
func TestDialReachesInside(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, cmd, _ := started(t, Want{Sockets: true})
	defer s.Close()
	for port, want := range map[uint16]string{
		3000: "inside 127.0.0.1:3000", 3001: "inside [::1]:3001", 3002: "ECONNREFUSED",
		uint16(l.Addr().(*net.TCPAddr).Port): "ECONNREFUSED",
	} {
		if got := said(s.Dial(t.Context(), port)); got != want {
			t.Errorf("port %d: %q and not %q", port, got, want)
		}
	}
	before := descriptors(t)
	done := make(chan string)
	for range 64 {
		go func() { done <- said(s.Dial(t.Context(), 3000)) }()
	}
	for range 64 {
		if got := <-done; got != "inside 127.0.0.1:3000" {
			t.Errorf("at once: %q", got)
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before and %d after", before, after)
	}
	// Without the process inside there is no way in.
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := s.Dial(t.Context(), 3000); !errors.Is(err, ErrGone) {
		t.Errorf("after its end: %v", err)
	}
}

// A process that is stopped, as a terminal does, holds nobody for ever, and is
// as good as before once it goes on.
func TestDialOfAStoppedProcess(t *testing.T) {
	s, cmd, _ := started(t, Want{Sockets: true})
	defer s.Close()
	cmd.Process.Signal(syscall.SIGSTOP)
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
		t.Fatalf("it did not stop: %v", err)
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if c, err := s.Dial(ctx, 3000); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stopped: %v, %v", c, err)
		}
		cancel()
	}
	cmd.Process.Signal(syscall.SIGCONT)
	for _, port := range []uint16{3001, 3000} {
		if got := said(s.Dial(t.Context(), port)); !strings.HasPrefix(got, "inside ") {
			t.Errorf("going on: %q", got)
		}
	}
}

// Who is at the other end and sends what is no socket of the network inside is
// not believed.
func TestSocketsAreChecked(t *testing.T) {
	here, err := ourNamespace()
	if err != nil {
		t.Fatal(err)
	}
	for what, give := range map[string]func(control){
		"of this network": func(c control) {
			fd, _ := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			c.send([]byte{kindSocket, 4}, fd)
		},
		"a file": func(c control) {
			fd, _ := unix.Open("/dev/null", unix.O_RDONLY, 0)
			c.send([]byte{kindSocket, 4}, fd)
		},
		"of another family": func(c control) {
			fd, _ := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
			c.send([]byte{kindSocket, 4}, fd)
		},
		"none":      func(c control) { c.send([]byte{kindSocket, 4}) },
		"two":       func(c control) { c.send([]byte{kindSocket, 4}, 0, 1) },
		"an errno":  func(c control) { c.send(marshalNone(unix.EMFILE)) },
		"nonsense":  func(c control) { c.send([]byte("what")) },
		"the other": func(c control) { c.send([]byte{kindSocket, 6}, 0) },
	} {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(pair[0]), "ours")
		conn, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		there := here
		there.ino++
		s := &Sockets{check: checker{here: here, there: there}, conn: conn.(*net.UnixConn), turn: make(chan struct{}, 1)}
		give(control{pair[1]})
		before := descriptors(t)
		if c, err := s.Dial(t.Context(), 3000); err == nil {
			t.Errorf("%s: taken: %v", what, c)
		} else if what == "an errno" && !errors.Is(err, unix.EMFILE) {
			t.Errorf("%s: %v", what, err)
		}
		if after := descriptors(t); after > before {
			t.Errorf("%s: left open", what)
		}
		s.Close()
		unix.Close(pair[1])
	}
}
