package secret

import (
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// lookalike says whether a character is a dot, a slash, a backslash, a percent
// sign or a semicolon to a reader that brings text into a compatible form
// (Unicode, NFKC) or into a smaller set of characters.
func lookalike(r rune) bool {
	return strings.ContainsRune("\u2024\u2025\u2026\ufe52\uff0e\uff61\u2044\u2215\uff0f\u2216\ufe68\uff3c\ufe6a\uff05\u037e\ufe54\uff1b", r)
}

// onePath gives a path as an address has it in its one form: no letter or digit
// is escaped, and escapes are in upper case. A path that two readers could take
// for different ones is refused: with dot segments, with empty segments, with
// an escaped dot, slash, backslash, percent sign or control byte, with a
// backslash, with what only looks like one of those, or with bytes that are not
// UTF-8 (an overlong dot is one to some). What follows a semicolon in a segment is no part of it to some
// readers, so dots before one are dots.
func onePath(p string) (string, error) {
	if !strings.HasPrefix(p, "/") {
		return "", errors.New("does not begin with a slash")
	}
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c == '\\' {
			return "", errors.New("holds a backslash")
		}
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(p) {
			return "", errors.New("holds a percent sign that escapes nothing")
		}
		high, low := redact.Unhex(p[i+1]), redact.Unhex(p[i+2])
		if high > 15 || low > 15 {
			return "", errors.New("holds a percent sign that escapes nothing")
		}
		switch d := high<<4 | low; {
		case d == '.' || d == '/' || d == '\\' || d == '%' || d == ';' || d < ' ' || d == 0x7f:
			return "", errors.New("holds an escape that readers take for different things")
		case 'a' <= d && d <= 'z', 'A' <= d && d <= 'Z', '0' <= d && d <= '9', d == '-', d == '_', d == '~':
			b.WriteByte(d)
		default:
			b.WriteString(strings.ToUpper(p[i : i+3]))
		}
		i += 2
	}
	one := b.String()
	if plain, err := url.PathUnescape(one); err != nil || !utf8.ValidString(plain) || strings.ContainsFunc(plain, lookalike) {
		return "", errors.New("holds bytes that readers take for different things")
	}
	segments := strings.Split(one[1:], "/")
	for i, s := range segments {
		name, _, _ := strings.Cut(s, ";")
		step := strings.TrimRight(strings.ReplaceAll(name, "%20", " "), " ") // which Windows leaves out
		switch {
		case step == "." || step == "..":
			return "", errors.New("holds a dot segment")
		case name == "" && i < len(segments)-1, name == "" && s != "":
			return "", errors.New("holds an empty segment")
		}
	}
	return one, nil
}
