package inside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
)

// What goes over the control socket: one message a packet, since the socket
// keeps their borders (SOCK_SEQPACKET).
//
//	'l' role family port   up, with one descriptor: a listener
//	'r' ipv6               up, the last: all listeners are sent, all is sealed
//	'e' errno text×4       up, instead: step, what, why, hint
//	'g'                    down: go on
//
// and from then on, where sockets were wanted:
//
//	's' family             down: a socket, please
//	'c' family             up, with one descriptor: here it is
//	'n' errno              up, instead: there is none
const (
	kindListener = 'l'
	kindReady    = 'r'
	kindFailed   = 'e'
	kindGo       = 'g'
	kindAsk      = 's'
	kindSocket   = 'c'
	kindNone     = 'n'
)

// maxMessage bounds a message, in bytes. maxText bounds one text of a failure.
const (
	maxMessage = 2048
	maxText    = 480
)

// role is what a listener is for.
type role byte

const (
	roleProxy       role = 'p'
	roleTransparent role = 't'
	roleDNSPackets  role = 'u'
	roleDNSStreams  role = 's'
	rolePort        role = 'n'
	roleUnnamed     role = 'f' // no listener, but sent as one
)

func (r role) String() string {
	switch r {
	case roleProxy:
		return "proxy"
	case roleTransparent:
		return "transparent"
	case roleDNSPackets:
		return "dns over udp"
	case roleDNSStreams:
		return "dns over tcp"
	case rolePort:
		return "port"
	case roleUnnamed:
		return "calls that no rule carries"
	}
	return fmt.Sprintf("role %d", byte(r))
}

// listener says which socket is meant: a role, and the one address it is bound
// to. Everything about it that can be checked follows from it.
type listener struct {
	role role
	at   netip.AddrPort
}

// unnamedListener stands for the socket of [Listeners.Unnamed].
var unnamedListener = listener{role: roleUnnamed, at: netip.AddrPortFrom(loopback4, 0)}

func (l listener) packets() bool { return l.role == roleDNSPackets }

func (l listener) String() string { return fmt.Sprintf("%s at %s", l.role, l.at) }

// listeners are those that a namespace has, in the order they are sent.
func listeners(w Want, ipv6 bool) []listener {
	at := []netip.Addr{loopback4}
	if ipv6 {
		at = append(at, loopback6)
	}
	var all []listener
	add := func(r role, port uint16) {
		for _, a := range at {
			all = append(all, listener{role: r, at: netip.AddrPortFrom(a, port)})
		}
	}
	if w.ProxyPort != 0 {
		add(roleProxy, w.ProxyPort)
	}
	add(roleTransparent, TransparentPort)
	add(roleDNSPackets, DNSPort)
	add(roleDNSStreams, DNSPort)
	for _, p := range w.Ports {
		add(rolePort, p)
	}
	return all
}

// message is one of listener, ready and *StepError.
type message any

type ready struct{ ipv6 bool }

var errMessage = errors.New("a message that this stage does not send")

func marshalListener(l listener) []byte {
	b := []byte{kindListener, byte(l.role), family(l.at.Addr())}
	return binary.BigEndian.AppendUint16(b, l.at.Port())
}

func family(a netip.Addr) byte {
	if a.Is4() {
		return 4
	}
	return 6
}

func marshalReady(r ready) []byte {
	if r.ipv6 {
		return []byte{kindReady, 1}
	}
	return []byte{kindReady, 0}
}

func marshalFailed(e *StepError) []byte {
	var errno syscall.Errno
	why := ""
	if e.Err != nil {
		errors.As(e.Err, &errno)
		why = e.Err.Error()
	}
	b := binary.BigEndian.AppendUint32([]byte{kindFailed}, uint32(errno))
	for _, s := range []string{string(e.Step), e.What, why, e.Hint} {
		s = printable(s)
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
		b = append(b, s...)
	}
	return b
}

// printable is s with what could move a terminal's cursor taken out, cut to maxText.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), maxText)]
}

// unmarshal reads a message that came up.
func unmarshal(b []byte) (message, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errMessage)
	}
	switch {
	case b[0] == kindListener && len(b) == 5:
		l := listener{role: role(b[1])}
		port := binary.BigEndian.Uint16(b[3:])
		switch b[2] {
		case 4:
			l.at = netip.AddrPortFrom(loopback4, port)
		case 6:
			l.at = netip.AddrPortFrom(loopback6, port)
		default:
			return nil, fmt.Errorf("%w: family %d", errMessage, b[2])
		}
		return l, nil
	case b[0] == kindReady && len(b) == 2 && b[1] <= 1:
		return ready{ipv6: b[1] == 1}, nil
	case b[0] == kindFailed && len(b) >= 5:
		return unmarshalFailed(b)
	}
	return nil, fmt.Errorf("%w: kind %q, %d bytes", errMessage, b[0], len(b))
}

func unmarshalFailed(b []byte) (message, error) {
	errno := syscall.Errno(binary.BigEndian.Uint32(b[1:]))
	var text [4]string
	rest := b[5:]
	for i := range text {
		if len(rest) < 2 {
			return nil, fmt.Errorf("%w: a failure cut short", errMessage)
		}
		n := int(binary.BigEndian.Uint16(rest))
		if n > maxText || n > len(rest)-2 {
			return nil, fmt.Errorf("%w: a text of %d bytes", errMessage, n)
		}
		text[i], rest = printable(string(rest[2:2+n])), rest[2+n:]
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", errMessage, len(rest))
	}
	return &StepError{Step: Step(text[0]), What: text[1], Err: remote{errno, text[2]}, Hint: text[3]}, nil
}

// remote is an error that happened inside, as it read there.
type remote struct {
	errno syscall.Errno
	text  string
}

func (r remote) Error() string { return r.text }

func (r remote) Unwrap() error {
	if r.errno == 0 {
		return nil
	}
	return r.errno
}
