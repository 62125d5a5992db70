package socket_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"
	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/socket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait. Nothing is measured by it.
const patience = 20 * time.Second

var keep = net.KeepAliveConfig{Enable: true, Idle: 31 * time.Second, Interval: 7 * time.Second, Count: 3}

// listen gives a listener at an address of this machine's loopback.
func listen(t *testing.T, at string) (*socket.Listener, netip.AddrPort) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.(*net.TCPListener).File()
	l.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := socket.Listen(fd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, s.Addr().(*net.TCPAddr).AddrPort()
}

func dial(t *testing.T, to netip.AddrPort) net.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := socket.Dial(ctx, to, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// pair gives both ends of a connection, in a family.
func pair(t *testing.T, at string) (dialled, accepted net.Conn) {
	t.Helper()
	l, to := listen(t, at)
	dialled = dial(t, to)
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close() })
	return dialled, accepted
}

// Its connections keep to all that a net.Conn does: deadlines, closing under
// those who wait, many who read and write at once.
func TestConn(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
			c1, c2 = pair(t, at)
			return c1, c2, func() { c1.Close(); c2.Close() }, nil
		})
	}
}

func TestAddresses(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		d, a := pair(t, at)
		if d.LocalAddr().String() != a.RemoteAddr().String() || d.RemoteAddr().String() != a.LocalAddr().String() {
			t.Errorf("%v to %v, and %v to %v", d.LocalAddr(), d.RemoteAddr(), a.RemoteAddr(), a.LocalAddr())
		}
	}
	_, to := listen(t, "127.0.0.1:0")
	mapped := netip.AddrPortFrom(netip.AddrFrom16(to.Addr().As16()), to.Port())
	if c := dial(t, mapped); c.RemoteAddr().String() != to.String() {
		t.Errorf("%v is dialled as %v", mapped, c.RemoteAddr())
	}
}

// One way can end alone, and what was cut does not look as if it had ended.
func TestEnds(t *testing.T) {
	d, a := pair(t, "127.0.0.1:0")
	if _, err := d.Write([]byte("asked")); err != nil {
		t.Fatal(err)
	}
	if err := d.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(a); err != nil || string(b) != "asked" {
		t.Errorf("read %q, %v", b, err)
	}
	if _, err := a.Write([]byte("answered")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 8)
	if _, err := io.ReadFull(d, b); err != nil || string(b) != "answered" {
		t.Errorf("read %q, %v", b, err)
	}
	if err := a.(interface{ SetLinger(int) error }).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	a.Close()
	d.SetReadDeadline(time.Now().Add(patience))
	if _, err := d.Read(b); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a reset reads as %v", err)
	}
	for what, err := range map[string]error{
		"read": second(a.Read(b)), "write": second(a.Write(b)), "close": a.Close(),
		"close one way": a.(interface{ CloseWrite() error }).CloseWrite(),
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s of what is closed: %v", what, err)
		}
	}
}

func second(_ int, err error) error { return err }

// A dial that fails says why as package net does.
func TestDialFails(t *testing.T) {
	l, to := listen(t, "127.0.0.1:0")
	l.Close()
	_, err := socket.Dial(context.Background(), to, keep)
	var op *net.OpError
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.As(err, &op) || op.Op != "dial" || op.Addr.String() != to.String() {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := socket.Dial(context.Background(), netip.MustParseAddrPort("255.255.255.255:9"), keep); err == nil {
		t.Error("all of the network was dialled")
	}
}

// full gives an address of a listener with no room: who dials it waits.
func full(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	is, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(is.(*unix.SockaddrInet4).Port))
	dial(t, to) // it holds one more than was said (listen(2))
	return to
}

// A dial that is not answered ends with its context, for what that ended for.
func TestDialIsGivenUp(t *testing.T) {
	to := full(t)
	why := errors.New("no more")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		time.Sleep(20 * time.Millisecond)
		cancel(why)
	}()
	if c, err := socket.Dial(ctx, to, keep); !errors.Is(err, why) {
		t.Errorf("given up: %v, %v", c, err)
	}
	if _, err := socket.Dial(ctx, to, keep); !errors.Is(err, why) {
		t.Errorf("given up before: %v", err)
	}
	late, cancelLate := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancelLate()
	var timeout net.Error
	if _, err := socket.Dial(late, to, keep); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("in time: %v", err)
	}
}

// Nobody is his own far side: a port that the kernel gave to the socket which
// dials it is one where nobody listens.
func TestNobodyDialsHimself(t *testing.T) {
	free, to := listen(t, "127.0.0.1:0")
	free.Close()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}); err != nil {
		t.Fatal(err)
	}
	if c, err := socket.Connect(context.Background(), fd, to); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v, %v", c, err)
	}
}

// The kernel finds out that a far side is gone, and does not hold small writes
// back, on either side.
func TestOptions(t *testing.T) {
	d, a := pair(t, "127.0.0.1:0")
	for _, o := range []struct {
		c                   net.Conn
		level, option, want int
	}{
		{d, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1}, {a, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{d, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1}, {d, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 31},
		{d, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 7}, {d, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
	} {
		raw, err := o.c.(syscall.Conn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			if is, err := unix.GetsockoptInt(int(fd), o.level, o.option); err != nil || is != o.want {
				t.Errorf("option %d of %d is %d, %v", o.option, o.level, is, err)
			}
			if flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("flags %#x, %v: it goes on to programs that are started", flags, err)
			}
		})
	}
}

// A listener ends under who waits at it, and loses nobody who called in one
// burst.
func TestListener(t *testing.T) {
	l, to := listen(t, "127.0.0.1:0")
	const burst = 50
	var said [burst]byte
	for i := range burst {
		c := dial(t, to)
		if _, err := c.Write([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for range burst {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 1)
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
		c.Close()
		said[b[0]]++
	}
	if !bytes.Equal(said[:], bytes.Repeat([]byte{1}, burst)) {
		t.Errorf("heard %v", said)
	}
	ended := make(chan error)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	time.Sleep(10 * time.Millisecond)
	l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
}

// What is reached is what was dialled: to the kernel the unspecified address is
// this machine.
func TestUnspecified(t *testing.T) {
	for at, unspecified := range map[string]netip.Addr{"127.0.0.1:0": netip.IPv4Unspecified(), "[::1]:0": netip.IPv6Unspecified()} {
		_, to := listen(t, at)
		c, err := socket.Dial(context.Background(), netip.AddrPortFrom(unspecified, to.Port()), keep)
		if err == nil || !strings.Contains(err.Error(), "another address") {
			t.Errorf("%v reaches %v, %v", unspecified, c, err)
		}
	}
}

// What is no socket is not listened on.
func TestNoSocket(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[1])
	if l, err := socket.Listen(pipe[0]); !errors.Is(err, syscall.ENOTSOCK) {
		t.Errorf("%v, %v", l, err)
	}
}

// Running out of descriptors is told as such, and passes.
func TestNoDescriptors(t *testing.T) {
	l, to := listen(t, "127.0.0.1:0")
	dial(t, to)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	none := was
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	_, accepting := l.Accept()
	_, dialling := socket.Dial(context.Background(), to, keep)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"accept": accepting, "dial": dialling} {
		var call *os.SyscallError
		if !errors.Is(err, syscall.EMFILE) || !errors.As(err, &call) {
			t.Errorf("%s: %v", what, err)
		}
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
