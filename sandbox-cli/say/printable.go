package say

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func decodeRune(s string) (rune, int) { return utf8.DecodeRuneInString(s) }

// unprintable covers control characters, invalid UTF-8, and the marks that
// reorder text on a terminal (category Cf: bidirectional overrides among them).
func unprintable(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// JSON is text of JSON with what no terminal is to act on escaped in it, which
// JSON itself leaves to stand in its strings: the control characters of ISO 6429
// above ASCII, and marks that reorder text.
func JSON(text []byte) []byte {
	var out []byte
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r < 0x7f || !unprintable(r) {
			out = append(out, text[at:at+n]...)
		} else if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		at += n
	}
	return out
}
