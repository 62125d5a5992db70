package inside

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestEveryListenerIsReadAsItWasWritten(t *testing.T) {
	for _, l := range listeners(Want{ProxyPort: 3128, Ports: []uint16{1, 65535}}, true) {
		if got, err := unmarshal(marshalListener(l)); err != nil || got != message(l) {
			t.Errorf("%v became %v, %v", l, got, err)
		}
	}
	for _, six := range []bool{true, false} {
		if got, err := unmarshal(marshalReady(ready{ipv6: six})); err != nil || got != message(ready{ipv6: six}) {
			t.Errorf("ready became %v, %v", got, err)
		}
	}
}

func TestListenersInTheirOrder(t *testing.T) {
	got := fmt.Sprint(listeners(Want{ProxyPort: 3128, Ports: []uint16{80}}, true))
	want := "[proxy at 127.0.0.1:3128 proxy at [::1]:3128 transparent at 127.0.0.1:61 transparent at [::1]:61 " +
		"dns over udp at 127.0.0.1:53 dns over udp at [::1]:53 dns over tcp at 127.0.0.1:53 dns over tcp at [::1]:53 " +
		"port at 127.0.0.1:80 port at [::1]:80]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = fmt.Sprint(listeners(Want{}, false))
	want = "[transparent at 127.0.0.1:61 dns over udp at 127.0.0.1:53 dns over tcp at 127.0.0.1:53]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAFailureKeepsItsErrnoAndItsWords(t *testing.T) {
	sent := &StepError{Step: StepRules, What: "table lnk", Err: fmt.Errorf("it failed: %w", syscall.ENOBUFS), Hint: "try again"}
	got, err := unmarshal(marshalFailed(sent))
	if err != nil {
		t.Fatal(err)
	}
	e := got.(*StepError)
	if e.Error() != sent.Error() || !errors.Is(e, syscall.ENOBUFS) || errors.Is(e, syscall.EPERM) {
		t.Errorf("%v became %v", sent, e)
	}
	plain, _ := unmarshal(marshalFailed(&StepError{Step: StepListen, Err: errors.New("so")}))
	if e := plain.(*StepError); e.Error() != "network inside: listen: so" || errors.As(e, new(syscall.Errno)) {
		t.Errorf("a failure without an errno became %v", e)
	}
	// A long or a hostile text does no harm to who reads it.
	long := &StepError{Step: StepListen, What: strings.Repeat("x", 10*maxText), Err: errors.New("\x1b[2J\x00é")}
	b := marshalFailed(long)
	if len(b) > maxMessage {
		t.Errorf("it is %d bytes", len(b))
	}
	got, err = unmarshal(b)
	if err != nil || strings.ContainsAny(got.(*StepError).Error(), "\x1b\x00é") {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWhatIsNoMessage(t *testing.T) {
	for _, b := range []string{
		"", "x", "l", "lp\x04", "lp\x04\x00\x35\x00", "lp\x05\x00\x35", "r", "r\x02", "r\x00\x00", "g", "e", "e\x00\x00\x00\x00",
		"e\x00\x00\x00\x00\x00\x01", "e\x00\x00\x00\x00\xff\xff", "e\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x",
	} {
		if m, err := unmarshal([]byte(b)); !errors.Is(err, errMessage) {
			t.Errorf("%q became %v, %v", b, m, err)
		}
	}
}

// What can be read at all is written the same way again, and is short and
// printable.
func FuzzUnmarshal(f *testing.F) {
	f.Add(marshalReady(ready{ipv6: true}))
	f.Add(marshalListener(listeners(Want{}, true)[1]))
	f.Add(marshalFailed(&StepError{Step: StepRules, What: "a", Err: syscall.EPERM, Hint: "b"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := unmarshal(b)
		if err != nil {
			return
		}
		var again []byte
		switch m := m.(type) {
		case listener:
			again = marshalListener(m)
		case ready:
			again = marshalReady(m)
		case *StepError:
			again = marshalFailed(m)
			if s := m.Error(); len(s) > 5*maxText || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("it says %q", s)
			}
		}
		if n, err := unmarshal(again); err != nil || !reflect.DeepEqual(n, m) {
			t.Errorf("%#v became %#v, %v", m, n, err)
		}
	})
}
