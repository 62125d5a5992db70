package proxy

import (
	"errors"
	"net/http"
	"net/url"
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
	if strings.IndexByte(s, '@') >= 0 {
		return authority{}, errors.New("a user or password in front of the host: take it out of the address, and send it in Authorization")
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

// parseAbsolute takes an absolute target apart: what names the host, whether it
// is asked over https, and what it is asked for.
func parseAbsolute(target string) (at authority, secure bool, path string, err error) {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok {
		return authority{}, false, "", errors.New("the target is not an absolute http address")
	}
	if secure = strings.EqualFold(scheme, "https"); !secure && !strings.EqualFold(scheme, "http") {
		if strings.EqualFold(scheme, "ftp") {
			return authority{}, false, "", errors.New("ftp is not forwarded: only http and https are")
		}
		return authority{}, false, "", errors.New("only http and https are forwarded: use CONNECT for the rest")
	}
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest, path = rest[:end], rest[end:]
	}
	at, err = parseAuthority(rest, usualPort(secure))
	return at, secure, path, err
}

// usualPort is the one that an address leaves out.
func usualPort(secure bool) uint16 {
	if secure {
		return 443
	}
	return 80
}

// localTarget refuses a target of the proxy's own that the server would refuse
// in words of its own. Any other is hidden from it.
func localTarget(target string) *badHead {
	if _, err := url.ParseRequestURI(target); err != nil {
		return malformed("a path that cannot be read: a percent sign stands before two hexadecimal digits")
	}
	return nil
}

// wholeServer is the path of an OPTIONS that asks about the server itself.
const wholeServer = "*"

// setPath has the URL of a request that goes on ask for path, byte for byte: a
// host may have signed it as it was written. An empty one is / (RFC 9112
// section 3.2.1), and of OPTIONS * (section 3.2.4).
func setPath(u *url.URL, method, path string, toProxy bool) {
	switch {
	case path == "" && method == http.MethodOptions:
		path = wholeServer
	case path == "" || path[0] == '?':
		path = "/" + path
	}
	switch {
	case toProxy && path == wholeServer:
		u.Opaque = "//" + u.Host
	case toProxy, strings.HasPrefix(path, "//"):
		// An Opaque with two slashes in front is written behind the scheme:
		// the absolute form, which is a proxy's own. A host that is asked for
		// // understands it too (section 3.2.2), but not every one does.
		if at, err := url.ParseRequestURI(path); err == nil && !toProxy && at.EscapedPath()+query(at) == path {
			u.Path, u.RawPath, u.RawQuery, u.ForceQuery = at.Path, at.RawPath, at.RawQuery, at.ForceQuery
			return
		}
		u.Opaque = "//" + u.Host + path
	default:
		u.Opaque = path
	}
}

func query(u *url.URL) string {
	if u.ForceQuery || u.RawQuery != "" {
		return "?" + u.RawQuery
	}
	return ""
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
