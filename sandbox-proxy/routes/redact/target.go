package redact

import (
	"fmt"
	"html"
	"strings"
)

// A target is a text that is looked for however each of its characters is
// written: as it is, or escaped in one of the ways that writers of answers have,
// each character in a way of its own; and with what those put between them.
type target struct {
	text    string   // what is looked for
	instead string   // what stands for it, as long
	kind    kind     // how characters are written
	between []string // what may stand between two of them, of several bytes
	single  *set     // and of one
	several *set     // what those of several begin with
}

// A set is a set of bytes.
type set [256]bool

// among gives what may stand between characters as a target has it.
func among(pieces []string) (between []string, single, several *set) {
	single, several = &set{}, &set{}
	for _, p := range pieces {
		if len(p) == 1 {
			single[p[0]] = true
			continue
		}
		between = append(between, p)
		several[p[0]] = true
	}
	return between, single, several
}

type kind uint8

const (
	written kind = iota // by itself, or escaped
	base64d             // a text in base64, of either alphabet, escaped or not
	hexed               // bytes, two digits each
)

// Bounds of what stands between two characters, and of one character.
const (
	maxBetween = 16 // pieces: a line break and what a folded line begins with
	maxEntity  = 12 // bytes of an entity of HTML: &#x0000002f;
	maxNested  = 3  // escapes of an escape: %252F, &amp;#47;
	maxSlashes = 7  // backslashes before a character: JSON in JSON in JSON
)

// Between characters of what is written out: the zero bytes of UTF-16 and
// UTF-32, and a soft line break (RFC 2045 section 6.7).
var betweenWritten = []string{"\x00", "=\r\n", "=\n"}

// Between those of base64 also line breaks (RFC 2045 section 6.8), as they are
// and escaped, and what a folded line begins with.
var betweenBase64 = []string{"\x00", "=\r\n", "=\n", "\r", "\n", " ", "\t", `\r`, `\n`, "%0D", "%0A", "%0d", "%0a", "&#13;", "&#10;", "&#xD;", "&#xA;", "&#xd;", "&#xa;"}

// Between bytes in hexadecimal what dumps, fingerprints and lists of them have.
var betweenHex = []string{"0x", "0X", `\x`, " ", ":", "-", ",", ".", "_", "\r", "\n", "\t", "\x00"}

// How far a match came.
type match uint8

const (
	differs match = iota
	begins        // all of the text at hand is its beginning
	matches
)

// at says whether the target stands at the beginning of b, and where it ends;
// last says that nothing follows b. Of a match, instead appends what stands for
// it, each character written as it was.
func (t *target) at(b []byte, last bool, instead *[]byte) (end int, m match) {
	for i := range len(t.text) {
		n, m := t.oneOf(b[end:], t.text[i], last)
		from := end
		for pieces := 0; m == differs && i > 0 && pieces < maxBetween; pieces++ {
			skip := 1
			if blank := b[end] == ' ' || b[end] == '\t'; blank && t.kind == base64d && pieces == 0 {
				break // it folds a line, and ends none
			}
			if !t.single[b[end]] {
				if !t.several[b[end]] {
					break
				}
				if skip, m = anyOf(b[end:], t.between); m != matches {
					break
				}
			}
			end += skip
			n, m = t.oneOf(b[end:], t.text[i], last)
		}
		if m != matches {
			return 0, m
		}
		if instead != nil {
			*instead = append(*instead, b[from:end]...)
			*instead = t.write(*instead, b[end:end+n], t.instead[i])
		}
		end += n
	}
	return end, matches
}

// oneOf is [target.one] where nothing may follow: what may begin an escape of a
// character, and is that character, is it then.
func (t *target) oneOf(b []byte, c byte, last bool) (n int, m match) {
	if n, m = t.one(b, c); m == begins && last && len(b) > 0 && t.kind != hexed && b[0] == c {
		return 1, matches
	}
	return n, m
}

func anyOf(b []byte, texts []string) (n int, m match) {
	for _, s := range texts {
		switch {
		case len(b) >= len(s) && string(b[:len(s)]) == s:
			return len(s), matches
		case len(b) < len(s) && s[:len(b)] == string(b):
			m = begins
		}
	}
	return 0, m
}

// one says whether b begins with a character, and in how many bytes it is
// written.
func (t *target) one(b []byte, c byte) (n int, m match) {
	if len(b) == 0 {
		return 0, begins
	}
	if t.kind == hexed {
		return hexByte(b, c)
	}
	same := b[0] == c
	if !escapes[b[0]] && t.kind == written {
		if same {
			return 1, matches
		}
		return 0, differs
	}
	if t.kind == base64d {
		same = same || c == '+' && (b[0] == '-' || b[0] == ' ') || c == '/' && b[0] == '_'
	}
	switch b[0] {
	case '%':
		if n, m = percent(b, c); m == differs && c == ' ' {
			n, m = percent(b, '+') // a space in a form, escaped again
		}
	case '\\':
		n, m = backslash(b, c)
	case '&':
		n, m = entity(b, c)
	case '=':
		if len(b) > 1 {
			n, m = hexByte(b[1:], c)
			n++
		} else {
			m = begins
		}
	case '+':
		if c == ' ' {
			return 1, matches
		}
	}
	if t.kind == base64d && m == differs && !same {
		switch c { // the other alphabet, escaped
		case '+', '/':
			if b[0] == '%' || b[0] == '\\' || b[0] == '&' || b[0] == '=' {
				other := target{kind: written}
				return other.one(b, "-_"[strings.IndexByte("+/", c)])
			}
		}
	}
	if same && m != matches {
		if m == begins {
			return 0, begins // it may be an escape of itself
		}
		return 1, matches
	}
	return n, m
}

// escapes begin what stands for another character.
var escapes = set{'%': true, '\\': true, '&': true, '=': true, '+': true}

// hexByte is two hexadecimal digits, in either case.
func hexByte(b []byte, c byte) (int, match) {
	switch {
	case len(b) == 0:
		return 0, begins
	case Unhex(b[0]) != c>>4:
		return 0, differs
	case len(b) == 1:
		return 0, begins
	case Unhex(b[1]) != c&15:
		return 0, differs
	}
	return 2, matches
}

// Unhex gives the value of a hexadecimal digit in either case; 255 is none.
func Unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// percent is an escape of an address (RFC 3986 section 2.1), or one of an
// escape.
func percent(b []byte, c byte) (int, match) {
	for n := 1; n < 1+2*maxNested; n += 2 {
		if _, m := hexByte(b[n:], c); m != differs {
			return n + 2, m
		}
		if _, m := hexByte(b[n:], '%'); m != matches {
			return 0, m
		}
	}
	return 0, differs
}

// backslash is an escape of JSON (RFC 8259 section 7) or of a program's text.
func backslash(b []byte, c byte) (int, match) {
	n := 1
	for n < len(b) && n < maxSlashes && b[n] == '\\' {
		n++
	}
	switch {
	case n == len(b):
		return 0, begins
	case b[n] == 'u':
		if head, m := anyOf(b[n+1:], []string{"00"}); m != matches {
			return head, m
		}
		_, m := hexByte(b[n+3:], c)
		return n + 5, m
	case b[n] == 'x':
		_, m := hexByte(b[n+1:], c)
		return n + 3, m
	case b[n] == c && c != '\\' && !alphanumeric(c):
		return n + 1, matches
	}
	return 0, differs
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// entity is an escape of HTML (the HTML standard, character references), or one
// of an escape.
func entity(b []byte, c byte) (int, match) {
	if c >= 0x80 {
		return 0, differs
	}
	for n, nested := 1, 0; nested < maxNested; nested++ {
		end := n
		for end < len(b) && end-n < maxEntity && (alphanumeric(b[end]) || b[end] == '#' && end == n) {
			end++
		}
		switch {
		case end == len(b) && end-n < maxEntity:
			return 0, begins
		case end == len(b) || b[end] != ';' || end == n:
			return 0, differs
		}
		said := html.UnescapeString("&" + string(b[n:end+1]))
		if said == string(rune(c)) {
			return end + 1, matches
		}
		if said != "&" {
			return 0, differs
		}
		n = end + 1
	}
	return 0, differs
}

// write appends a character in the way in which another was written, and as
// long.
func (t *target) write(out, was []byte, c byte) []byte {
	const lower, upper = "0123456789abcdef", "0123456789ABCDEF"
	digits := lower
	for _, d := range was {
		if 'A' <= d && d <= 'F' {
			digits = upper
		}
	}
	switch n := len(was); {
	case n == 1:
		if t.kind == base64d && (c == '+' || c == '/') && (was[0] == '-' || was[0] == '_') {
			c = "-_"[strings.IndexByte("+/", c)]
		}
		return append(out, c)
	case t.kind == hexed, was[0] == '%', was[0] == '=', was[0] == '\\' && n > 3 && (was[n-3] == 'x' || n > 5 && was[n-5] == 'u'):
		return append(append(out, was[:n-2]...), digits[c>>4], digits[c&15])
	case was[0] == '\\' && !alphanumeric(c) && c != '\\':
		return append(append(out, was[:n-1]...), c)
	case html.UnescapeString(string(was)) == string(rune(c)):
		return append(out, was...)
	case was[0] == '&' && n > 4 && c < 100 || was[0] == '&' && n > 5:
		return fmt.Appendf(out, "&#%0*d;", n-3, c)
	default: // as long, whatever it was
		return append(append(out, strings.Repeat("x", n-1)...), c)
	}
}
