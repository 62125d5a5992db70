package carry

import (
	"errors"
	"net/url"
	"strings"
)

var errDots = errors.New("a path that leads out of the route's address: leave out . and .. in it")

// rebase puts what the program asks for under the server's base address. The
// key is good for all of a host, so nothing may lead out of it, in any spelling
// that a server may read as a step up.
func (c *carrier) rebase(at *url.URL) error {
	if c.base == "" {
		return nil
	}
	if steps(at.EscapedPath()) {
		return errDots
	}
	rest := once(c.base, at.EscapedPath())
	full, err := url.PathUnescape(c.base + rest)
	if err != nil {
		return errors.New("a path that is malformed")
	}
	at.Path, at.RawPath = full, c.base+rest
	return nil
}

// steps says whether a path holds a dot segment, escaped or not.
func steps(path string) bool {
	low := strings.ToLower(path)
	for range 3 { // servers unescape more than once
		low = strings.NewReplacer("%25", "%", "%20", " ", "%2e", ".", "%2f", "/", "%5c", "/", `\`, "/").Replace(low)
	}
	for seg := range strings.SplitSeq(low, "/") {
		seg, _, _ = strings.Cut(seg, ";") // path parameters, which some leave out
		seg = strings.TrimRight(seg, " ") // which Windows leaves out
		if seg == "." || seg == ".." {
			return true
		}
	}
	return false
}

// once leaves out of a path the version that its base ends in: some clients
// take the base address with it, others without.
func once(base, path string) string {
	version := base[strings.LastIndexByte(base, '/'):]
	if len(version) > 2 && version[1] == 'v' && '0' <= version[2] && version[2] <= '9' {
		if rest, said := strings.CutPrefix(path, version); said && strings.HasPrefix(rest, "/") {
			return rest
		}
	}
	return path
}
