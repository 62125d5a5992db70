package form

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name checks a name of the contract: 1 to 64 of A-Z a-z 0-9 . _ -, the first
// a letter or digit, no "..". They become file names and parts of addresses.
func Name(s string) error {
	if s == "" {
		return Refuse("empty, want a name")
	}
	if len(s) > 64 {
		return Refuse("a name is at most 64 characters")
	}
	for i := range len(s) {
		if c := s[i]; !alnum(c) && (i == 0 || c != '.' && c != '_' && c != '-') {
			return Refuse(Quote(s) + ": a name is letters, digits, dot, underscore and hyphen, the first a letter or digit")
		}
	}
	if strings.Contains(s, "..") {
		return Refuse(Quote(s) + ": a name has no two dots in a row")
	}
	return nil
}

func alnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Path checks an absolute path in its shortest form: no "." or "..", no
// doubled or last slash, no NUL, no newline, valid UTF-8.
func Path(s string) error {
	if err := PathText(s); err != nil {
		return err
	}
	if s[0] != '/' {
		return Refuse(Quote(s) + ": not an absolute path")
	}
	if clean := path.Clean(s); clean != s {
		return Refuse(Quote(s) + ": not a clean path, write " + Quote(clean))
	}
	return nil
}

// PathText checks what holds for any path, relative ones too.
func PathText(s string) error {
	switch {
	case s == "":
		return Refuse("empty, want a path")
	case strings.Contains(s, "\x00"):
		return Refuse("holds a NUL")
	case strings.Contains(s, "\n"):
		return Refuse(Quote(s) + ": holds a newline")
	case !utf8.ValidString(s):
		return Refuse(Quote(s) + ": not UTF-8")
	}
	return nil
}

// Argument checks a word of a command line: no NUL, valid UTF-8, so that it
// is the same after it was written and read. It may be a secret by mistake,
// so it is not repeated.
func Argument(s string) error {
	if strings.Contains(s, "\x00") {
		return Refuse("holds a NUL")
	}
	if !utf8.ValidString(s) {
		return Refuse("not UTF-8")
	}
	return nil
}

// Argv checks a command line: a first word that is not empty.
func Argv(argv []string) error {
	if len(argv) == 0 {
		return Refuse("empty, want at least the program")
	}
	if argv[0] == "" {
		return AtIndex(0, Refuse("empty, want the program"))
	}
	return Each(argv, Argument)
}

// DistinctPorts checks that each port is 1 to 65535 and named once.
func DistinctPorts(ports []uint16) error {
	seen := map[uint16]bool{}
	return Each(ports, func(p uint16) error {
		if p == 0 {
			return Refuse("0: want a port of 1 to 65535")
		}
		if seen[p] {
			return Refuse(fmt.Sprintf("%d: named twice", p))
		}
		seen[p] = true
		return nil
	})
}

// Distinct checks that no entry is named twice.
func Distinct(entries []string) error {
	seen := map[string]bool{}
	return Each(entries, func(s string) error {
		if seen[s] {
			return Refuse(Quote(s) + ": named twice")
		}
		seen[s] = true
		return nil
	})
}

// Token checks a word that goes on one line between others: not empty, no
// white space, no control characters, valid UTF-8.
func Token(s string) error {
	if s == "" {
		return Refuse("empty")
	}
	if !utf8.ValidString(s) {
		return Refuse("not UTF-8")
	}
	if strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) >= 0 {
		return Refuse(Quote(s) + ": holds white space or a control character")
	}
	return nil
}

// URLSecret checks the secret of route addresses: 16 to 64 letters and digits.
func URLSecret(s string) error {
	if len(s) < 16 || len(s) > 64 || strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 || !alnum(byte(r)) }) >= 0 {
		return Refuse("want 16 to 64 letters and digits")
	}
	return nil
}

// HeaderValue checks what is sent as a header's value and may be a secret:
// printable ASCII, not empty, no space at either end (RFC 9110 section 5.5).
func HeaderValue(s string) error {
	if s == "" {
		return Refuse("empty")
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return Refuse("holds something other than printable ASCII")
		}
	}
	if s[0] == ' ' || s[len(s)-1] == ' ' {
		return Refuse("begins or ends with a space")
	}
	return nil
}

// HeaderName checks a header's name: a token of RFC 9110 section 5.6.2.
func HeaderName(s string) error {
	if s == "" {
		return Refuse("empty")
	}
	for i := range len(s) {
		if c := s[i]; !alnum(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return Refuse(Quote(s) + ": not the name of a header")
		}
	}
	return nil
}

// OneOf checks a word out of a fixed set.
func OneOf(s string, words ...string) error {
	for _, w := range words {
		if s == w {
			return nil
		}
	}
	return Refuse(Quote(s) + ": not one of " + strings.Join(words, ", "))
}
