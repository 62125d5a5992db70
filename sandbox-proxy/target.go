package proxy

import (
	"errors"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// An authority is a host and a port, as a request names them. The host is not
// in normal form yet: that is the judge's.
type authority struct {
	host string
	port uint16
}

// parseAuthority reads host:port, or host where a port may be left out: an
// IPv6 address stands in brackets and nothing else does.
func parseAuthority(s string, without uint16) (authority, error) {
	host, rest := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return authority{}, errors.New("a bracket that is not closed")
		}
		host, rest = s[:end+1], s[end+1:]
	} else if at := strings.IndexByte(s, ':'); at >= 0 {
		host, rest = s[:at], s[at:]
	}
	if host == "" {
		return authority{}, errors.New("no host")
	}
	if rest == "" {
		if without == 0 {
			return authority{}, errors.New("no port")
		}
		return authority{host, without}, nil
	}
	digits, ok := strings.CutPrefix(rest, ":")
	if !ok {
		return authority{}, errors.New("something behind the brackets that is not a port")
	}
	port, err := judge.ParsePort(digits)
	return authority{host, port}, err
}

// parseAbsolute takes an absolute http target apart: what names the host, and
// the rest. Only http is forwarded; https goes through CONNECT.
func parseAbsolute(target string) (authority, error) {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok {
		return authority{}, errors.New("the target is not an absolute http address")
	}
	if !strings.EqualFold(scheme, "http") {
		return authority{}, errors.New("only http is forwarded: use CONNECT for the rest")
	}
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest = rest[:end]
	}
	return parseAuthority(rest, 80)
}

// sameHost says whether two hosts are one, as far as can be told without their
// normal form: in any case of letters and with or without a trailing dot.
func sameHost(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

// hostPort writes a host, in normal form, as a Host header or a URL has it.
func hostPort(host string, port, without uint16) string {
	if port == without {
		return host
	}
	return host + ":" + strconv.Itoa(int(port))
}
