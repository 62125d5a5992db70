package proxy

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// A head is a request's head, read so strictly that no two readers could read
// it differently: RFC 9112 without what it lets a server put up with.
type head struct {
	method   string
	target   string
	minor    int // HTTP/1.minor
	host     string
	hosted   bool // there is a Host
	length   int64
	chunked  bool
	upgrade  string   // the protocol that is asked for, lower case
	switches bool     // Connection names the upgrade
	auth     []string // each Proxy-Authorization
	accept   []string // each Accept
	local    bool     // it is for the proxy itself
	given    string   // the target that the server is shown
	path     string   // what the host is asked for, byte for byte
	size     int      // of the head itself, in bytes
	fields   []field  // all of them, but of a CONNECT
	closes   bool     // Connection says that it is the last
	expects  bool     // there is an Expect

	into *inside // the host that its connection is for, where it is for one
	bad  *badHead
}

// A field is a line of a head.
type field struct{ name, value string }

// A badHead is why a head is refused.
type badHead struct {
	status int
	why    string
}

func (b *badHead) Error() string { return b.why }

func bad(status int, why string) *badHead { return &badHead{status, why} }

func malformed(why string) *badHead { return bad(http.StatusBadRequest, why) }

// emptyLine says whether b starts with one, or with what may become one. Some
// clients send one behind a body, and RFC 9112 section 2.2 has it ignored.
func emptyLine(b []byte) (whole, maybe bool) {
	return len(b) > 1 && b[0] == '\r' && b[1] == '\n', len(b) == 1 && b[0] == '\r'
}

// headEnd finds the end of the first head in b, the empty line included. It is
// zero when the head is not whole, and an error when it never can be.
func headEnd(b []byte) (int, *badHead) {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0, nil
		}
		i += at
		if i == 0 || b[i-1] != '\r' {
			return 0, malformed("a line that does not end in CR and LF")
		}
		if i-1 == at {
			if at == 0 {
				return 0, malformed("an empty line where a request line belongs")
			}
			return i + 1, nil
		}
		at = i + 1
	}
}

// parseHead reads a whole head.
func parseHead(b []byte) (*head, *badHead) {
	line, rest, ok := strings.Cut(string(b), "\r\n")
	if !ok {
		return nil, malformed("no request line")
	}
	h := &head{length: -1}
	if err := h.requestLine(line); err != nil {
		return nil, err
	}
	for {
		line, rest, ok = strings.Cut(rest, "\r\n")
		if !ok {
			return nil, malformed("a head without an end")
		}
		if line == "" {
			break
		}
		if err := h.field(line); err != nil {
			return nil, err
		}
	}
	if len(rest) > 0 {
		return nil, malformed("more than a head")
	}
	return h, h.framing()
}

// prefaceLine begins HTTP/2 where no TLS agrees on it (RFC 9113 section 3.4):
// gRPC without TLS does so, and whoever knows that a host speaks it.
const prefaceLine = "PRI * HTTP/2.0"

// errPreface is what it is refused for. It is answered in HTTP/1.1: to a GOAWAY
// gRPC connects again, until the call's time is over.
var errPreface = bad(http.StatusHTTPVersionNotSupported, "HTTP/2 without TLS, whose requests are not judged one by one as HTTP/1.1's are")

func (h *head) requestLine(line string) *badHead {
	if line == prefaceLine {
		return errPreface
	}
	method, rest, ok1 := strings.Cut(line, " ")
	target, version, ok2 := strings.Cut(rest, " ")
	if !ok1 || !ok2 || !token(method) || target == "" {
		return malformed("a request line that is not: method, target, version")
	}
	named := len(target) // the part that can name a host
	if scheme := strings.Index(target, "://"); scheme >= 0 && target[0] != '/' {
		if end := strings.IndexAny(target[scheme+3:], "/?"); end >= 0 {
			named = scheme + 3 + end
		}
	} else if target[0] == '/' {
		named = 0
	}
	for i := range len(target) {
		// What is not ASCII belongs in no target, and curl sends it as it is
		// typed. In a path or a query it names no host, and is passed on.
		switch c := target[i]; {
		case c <= ' ' || c == 0x7f || c == '#':
			return malformed("a request target with a byte that none has")
		case c > 0x7f && i < named:
			return malformed("a host with letters that are not ASCII: ask for it by its xn-- name")
		}
	}
	switch version {
	case "HTTP/1.1":
		h.minor = 1
	case "HTTP/1.0":
	default:
		return bad(http.StatusHTTPVersionNotSupported, "a version other than HTTP/1.1 and HTTP/1.0")
	}
	// What names a host may be kept for as long as a call lasts, and longer:
	// it must not keep the rest of the head.
	h.method, h.target = method, strings.Clone(target)
	return nil
}

func (h *head) field(line string) *badHead {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !token(name) {
		return malformed("a header line that is not: name, colon, value; folded lines are not read")
	}
	value = strings.Trim(value, " \t")
	if !httpguts.ValidHeaderFieldValue(value) {
		return malformed("a header value with a control byte")
	}
	if h.method != http.MethodConnect {
		h.fields = append(h.fields, field{name, value})
	}
	switch is := func(known string) bool { return strings.EqualFold(name, known) }; {
	case is("host"):
		if h.hosted {
			return malformed("more than one Host")
		}
		h.host, h.hosted = strings.Clone(value), true
	case is("content-length"):
		if h.length >= 0 {
			return malformed("more than one Content-Length")
		}
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil || strings.Trim(value, "0123456789") != "" {
			return malformed("a Content-Length that is not a number")
		}
		h.length = int64(n)
	case is("transfer-encoding"):
		if h.chunked {
			return malformed("more than one Transfer-Encoding")
		}
		if !strings.EqualFold(value, "chunked") {
			return bad(http.StatusNotImplemented, "a Transfer-Encoding other than chunked")
		}
		h.chunked = true
	case is("connection"):
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(name)
			h.switches = h.switches || strings.EqualFold(name, "upgrade")
			h.closes = h.closes || strings.EqualFold(name, "close")
		}
	case is("upgrade"):
		if h.upgrade != "" {
			value = h.upgrade + ", " + value
		}
		h.upgrade = strings.ToLower(value)
	case is("expect"):
		// As the server reads it, which has words of its own for any other.
		if value != "" && !strings.EqualFold(value, "100-continue") {
			return bad(http.StatusExpectationFailed, "an Expect other than 100-continue")
		}
		h.expects = true
	case is("accept"):
		h.accept = append(h.accept, value)
	case is("proxy-authorization"):
		h.auth = append(h.auth, value)
	}
	return nil
}

// framing checks what the head says of the body.
func (h *head) framing() *badHead {
	switch {
	case h.minor == 1 && !h.hosted && h.method != http.MethodConnect:
		return malformed("no Host")
	case h.method != http.MethodConnect && !httpguts.ValidHostHeader(h.host):
		return malformed("a Host with a byte that none has") // a CONNECT's is held to its target
	case h.chunked && h.length >= 0:
		return malformed("both Content-Length and Transfer-Encoding")
	case h.chunked && h.minor == 0:
		return malformed("a Transfer-Encoding in HTTP/1.0")
	case h.method == http.MethodConnect && (h.chunked || h.length > 0):
		return malformed("a CONNECT with a body")
	}
	return nil
}

// takesOver says whether what follows the head is not for HTTP to read.
func (h *head) takesOver() bool {
	return h.bad == nil && (h.method == http.MethodConnect || h.websocket())
}

// websocket says whether the connection is asked to become a websocket (RFC
// 6455 section 4.1). No other protocol is carried: h2c would hide the requests
// after the first. A route's bridge may speak another.
func (h *head) websocket() bool {
	return h.switches && h.minor == 1 && !h.chunked && h.length <= 0 &&
		(h.upgrade == "websocket" || h.local && token(h.upgrade) && h.upgrade != "h2c")
}

func token(s string) bool { return s != "" && len(s) < 256 && httpguts.ValidHeaderFieldName(s) }
