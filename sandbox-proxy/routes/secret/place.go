package secret

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/account"
)

// A place is where a request holds the placeholder: in one header, or in one
// member of its query.
type place struct {
	header, query      string
	value, placeholder string
}

// maxBeside bounds what stands beside the placeholder in Basic credentials: a
// user's name, and not another token.
const maxBeside = 39

// carries says whether a header carries a credential on this route. In one that
// is not the route's the program may have the placeholder, which is nobody's,
// and nothing else.
func (p place) carries(name string) bool { return p.isHeader(name) || account.Header(name) }

func (p place) isHeader(name string) bool {
	return p.header != "" && account.Plain(name) == account.Plain(p.header)
}

// put puts the value where the placeholder stands, and says why a request may
// not be sent. A request without a credential is sent without.
func (p place) put(h http.Header, at *url.URL, how *reply) (why string) {
	mine := 0
	for name, values := range h {
		if !p.carries(name) || strings.Join(values, "") == "" {
			continue
		}
		if !p.isHeader(name) && account.Plain(name) == account.Cookie {
			p.keepCookies(h, name)
			continue
		}
		if !p.isHeader(name) {
			for _, v := range values {
				if _, alone := p.inHeader(v); v != "" && !alone {
					return "the header " + name + " holds a credential that is not this route's"
				}
			}
			continue
		}
		mine++
		if name != p.header || len(values) != 1 || mine > 1 {
			return "the header " + p.header + " is there more than once, or by another name"
		}
		sent, ok := p.inHeader(values[0])
		if !ok {
			return "the header " + p.header + " holds something else than this route's placeholder"
		}
		if !strings.Contains(values[0], p.placeholder) {
			how.redactor = how.redactor.With(sent, values[0])
			_, encoded, _ := strings.Cut(sent, " ")
			_, said, _ := strings.Cut(values[0], " ")
			how.redactor = how.redactor.With(strings.TrimLeft(encoded, " "), strings.TrimLeft(said, " "))
		}
		h[name] = []string{sent}
	}
	if name := p.otherInQuery(at.RawQuery); name != "" {
		return "the query's member " + name + " holds a credential that is not this route's"
	}
	if p.query == "" {
		return ""
	}
	query, ok := p.inQuery(at.RawQuery)
	if !ok {
		return "the query's member " + p.query + " holds something else than this route's placeholder"
	}
	at.RawQuery = query
	return ""
}

// inHeader replaces the placeholder in a header's value, where it is the only
// credential in it.
func (p place) inHeader(v string) (sent string, ok bool) {
	if before, after, found := strings.Cut(v, p.placeholder); found {
		return before + p.value + after, frames(before, after)
	}
	scheme, rest, _ := strings.Cut(v, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", false
	}
	text := strings.TrimRight(strings.TrimSpace(rest), "=")
	said, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return "", false
	}
	before, after, found := strings.Cut(string(said), p.placeholder)
	if !found || len(before)+len(after) > maxBeside || strings.Contains(after, p.placeholder) {
		return "", false
	}
	return scheme + " " + base64.StdEncoding.EncodeToString([]byte(before+p.value+after)), true
}

// frames says whether what stands around the placeholder is no credential: a
// scheme, a name and an equals sign, quotes.
func frames(before, after string) bool {
	quoted := strings.HasSuffix(before, `"`)
	if quoted != (after == `"`) || !quoted && after != "" {
		return false
	}
	before = strings.TrimSuffix(before, `"`)
	scheme, name, spaced := strings.Cut(before, " ")
	if !spaced {
		scheme, name = "", before
	}
	name = strings.TrimLeft(name, " ")
	if name != "" {
		var equals bool
		if name, equals = strings.CutSuffix(name, "="); !equals || !word(name) {
			return false
		}
	} else if quoted && !spaced {
		return before == ""
	}
	return scheme == "" || word(scheme)
}

// maxWord bounds a scheme or a name beside the placeholder, so that it can be
// no token.
const maxWord = 16

func word(s string) bool {
	if s == "" || len(s) > maxWord {
		return false
	}
	return strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz-_") == ""
}

// keepCookies leaves of cookies those that are the placeholder, which is
// nobody's. Clients keep what hosts set without being asked to, so that the
// others are left out and the request is not refused.
func (p place) keepCookies(h http.Header, name string) {
	var kept []string
	for _, line := range h[name] {
		for one := range strings.SplitSeq(line, ";") {
			_, said, _ := strings.Cut(strings.TrimSpace(one), "=")
			if strings.Trim(said, `"`) == p.placeholder {
				kept = append(kept, strings.TrimSpace(one))
			}
		}
	}
	if delete(h, name); len(kept) > 0 {
		h[name] = []string{strings.Join(kept, "; ")}
	}
}

// otherInQuery gives the name of a query's member that holds a credential which
// is not the route's, or "".
func (p place) otherInQuery(raw string) string {
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		said, err := url.QueryUnescape(value)
		if account.Query(name) && !p.isMember(name) && value != "" && (err != nil || said != p.placeholder) {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// isMember says whether a name is that of the route's member to some host.
func (p place) isMember(name string) bool {
	return p.query != "" && account.Member(name) == account.Member(p.query)
}

// inQuery replaces the placeholder in the query's member. Some readers part
// members at semicolons too, and some do not tell the case of names.
func (p place) inQuery(raw string) (string, bool) {
	found := 0
	var b strings.Builder
	for i := 0; i <= len(raw); {
		end := len(raw)
		if n := strings.IndexAny(raw[i:], "&;"); n >= 0 {
			end = i + n
		}
		name, value, _ := strings.Cut(raw[i:end], "=")
		plain, err := url.QueryUnescape(name)
		if err != nil {
			plain = name
		}
		if p.isMember(plain) {
			said, err := url.QueryUnescape(value)
			found++
			if err != nil || plain != p.query || said != p.placeholder || found > 1 {
				return "", false
			}
			b.WriteString(name + "=" + url.QueryEscape(p.value))
		} else {
			b.WriteString(raw[i:end])
		}
		if end < len(raw) {
			b.WriteByte(raw[end])
		}
		i = end + 1
	}
	return b.String(), true
}
