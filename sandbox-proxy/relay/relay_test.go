package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests. Nothing is measured by it.
const patience = 20 * time.Second

// listen listens on loopback, or on a socket in a folder of the test's.
func listen(t *testing.T, network string) net.Listener {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		at = filepath.Join(t.TempDir(), "x.sock")
	}
	l, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func dialTo(l net.Listener) Dial {
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, l.Addr().Network(), l.Addr().String())
	}
}

// upper is a server that reads all, and then says it in capitals.
func upper(t *testing.T, network string) net.Listener {
	l := listen(t, network)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				b, _ := io.ReadAll(c)
				io.WriteString(c, strings.ToUpper(string(b)))
				c.Close()
			}()
		}
	}()
	return l
}

// told is what is said in answer, or the error.
func told(t *testing.T, dial Dial, text string) string {
	t.Helper()
	c, err := dial(t.Context())
	if errors.Is(err, syscall.ECONNRESET) {
		return "reset" // before the dialer was told that it is connected
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	// The socket tells of a reset once, to whatever is asked of it first.
	_, wrote := io.WriteString(c, text)
	ended := c.(interface{ CloseWrite() error }).CloseWrite()
	b, err := io.ReadAll(c)
	if err := errors.Join(wrote, err); errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || len(b) == 0 && errors.Is(ended, syscall.ENOTCONN) {
		return "reset"
	}
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Bytes and the end of each way are carried, between sockets of any two kinds.
func TestCarry(t *testing.T) {
	big := strings.Repeat("abcdefgh", 1<<17)
	for _, from := range []string{"tcp", "unix"} {
		for _, to := range []string{"tcp", "unix"} {
			r := New()
			l := listen(t, from)
			go r.Carry(l, dialTo(upper(t, to)))
			for _, text := range []string{"x", big} {
				if got := told(t, dialTo(l), text); got != strings.ToUpper(text) {
					t.Errorf("%s to %s: %d bytes of %d", from, to, len(got), len(text))
				}
			}
			r.Close()
			if _, err := dialTo(l)(t.Context()); err == nil {
				t.Error("the listener is left")
			}
		}
	}
}

func TestCarryToNothing(t *testing.T) {
	r := New()
	defer r.Close()
	l := listen(t, "tcp")
	go r.Carry(l, func(context.Context) (net.Conn, error) { return nil, errors.New("nothing there") })
	if got := told(t, dialTo(l), ""); got != "reset" {
		t.Errorf("got %q", got)
	}
	never := listen(t, "tcp")
	go r.Refuse(never)
	if got := told(t, dialTo(never), ""); got != "reset" {
		t.Errorf("refused: %q", got)
	}
}

// One connection more than there is place for is reset, and places are given back.
func TestCarryHasABound(t *testing.T) {
	r := New()
	defer r.Close()
	l, far := listen(t, "tcp"), upper(t, "tcp")
	go r.Carry(l, dialTo(far))
	var open []net.Conn
	for range maxCalls {
		c, err := dialTo(l)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open = append(open, c)
	}
	if got := told(t, dialTo(l), "x"); got != "reset" {
		t.Errorf("one more: %q", got)
	}
	open[0].Close()
	for end := time.Now().Add(patience); told(t, dialTo(l), "x") != "X"; {
		if time.Now().After(end) {
			t.Fatal("the place was not given back")
		}
	}
}

func TestServeIn(t *testing.T) {
	r := New()
	defer r.Close()
	far := upper(t, "tcp")
	l := listen(t, "unix")
	go r.ServeIn(l, func(ctx context.Context, port uint16) (net.Conn, error) {
		if port != 3000 {
			return nil, errors.New("nothing there")
		}
		return dialTo(far)(ctx)
	})
	asked := func(port uint16) Dial {
		return func(ctx context.Context) (net.Conn, error) {
			c, err := dialTo(l)(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return c, DialIn(ctx, c, port)
		}
	}
	if got := told(t, asked(3000), "hello"); got != "HELLO" {
		t.Errorf("got %q", got)
	}
	if _, err := asked(3001)(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("another port: %v", err)
	}
	// Who ends before it has asked is forgotten.
	if got := told(t, dialTo(l), "x"); got != "" {
		t.Errorf("half a question: %q", got)
	}
}

// A relay that does not answer holds nobody longer than they wait.
func TestDialInHasABound(t *testing.T) {
	l := listen(t, "unix")
	c, err := dialTo(l)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := DialIn(ctx, c, 3000); err == nil {
		t.Error("nobody answered")
	}
}

func TestRefuseNames(t *testing.T) {
	r := New()
	defer r.Close()
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go r.RefuseNames(p)
	q := new(dns.Msg).SetQuestion("Any.Example.", dns.TypeAAAA)
	q.SetEdns0(1232, true)
	c := dns.Client{Timeout: patience}
	a, _, err := c.Exchange(q, p.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	if a.Rcode != dns.RcodeNameError || a.Id != q.Id || len(a.Question) != 1 || a.Question[0] != q.Question[0] ||
		!a.RecursionDesired || !a.RecursionAvailable || a.AuthenticatedData || len(a.Answer)+len(a.Ns)+len(a.Extra) != 0 {
		t.Errorf("got %v", a)
	}
}

// What is no query is answered with nothing, whatever it is.
func FuzzNoName(f *testing.F) {
	q, _ := new(dns.Msg).SetQuestion("a.example.", dns.TypeA).Pack()
	f.Add(q)
	f.Add(q[:len(q)-1])
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1})
	f.Fuzz(func(t *testing.T, q []byte) {
		a := noName(q)
		if a == nil {
			return
		}
		if len(a) > len(q) || a[2]&isAnswer == 0 || a[3]&0xf != notThere {
			t.Errorf("%x answers %x", a, q)
		}
		if noName(a) != nil {
			t.Error("an answer is answered")
		}
	})
}
