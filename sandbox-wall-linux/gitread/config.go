package gitread

import (
	"errors"
	"strings"
)

// An Entry is one value of a configuration (git-config(1), "Syntax").
type Entry struct {
	// Section and Key are in lower case. Section holds no subsection, and is
	// empty before the first.
	Section, Key string
	// Sub is the subsection as it is written; the old form, after a dot, is in
	// lower case.
	Sub string
	// Value is empty where there is none.
	Value string
}

// Name gives the entry's name as git prints it.
func (e Entry) Name() string {
	if e.Section == "" {
		return e.Key
	}
	if e.Sub == "" {
		return e.Section + "." + e.Key
	}
	return e.Section + "." + e.Sub + "." + e.Key
}

var errConfig = errors.New("not a configuration of git's")

// Config reads a configuration. Where it is none, the entries before that are
// given with an error, as git has seen them by then.
func Config(text string) ([]Entry, error) {
	r := reader{text: strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")}
	var entries []Entry
	var now Entry
	for {
		c, more := r.next()
		switch {
		case !more:
			return entries, nil
		case c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r':
		case c == '#' || c == ';':
			r.line()
		case c == '[':
			section, sub, ok := r.section()
			if !ok {
				return entries, errConfig
			}
			now.Section, now.Sub = section, sub
		case isAlpha(c): // before any section too, as git takes it
			key, value, ok := r.variable(c)
			if !ok {
				return entries, errConfig
			}
			entries = append(entries, Entry{now.Section, key, now.Sub, value})
		default:
			return entries, errConfig
		}
	}
}

type reader struct {
	text string
	at   int
}

func (r *reader) next() (byte, bool) {
	if r.at == len(r.text) {
		return 0, false
	}
	r.at++
	return r.text[r.at-1], true
}

// line passes the rest of a line.
func (r *reader) line() {
	if end := strings.IndexByte(r.text[r.at:], '\n'); end >= 0 {
		r.at += end + 1
		return
	}
	r.at = len(r.text)
}

// section reads what follows a [.
func (r *reader) section() (section, sub string, ok bool) {
	var name strings.Builder
	for {
		c, more := r.next()
		switch {
		case !more || c == '\n':
			return "", "", false
		case c == ']':
			section, sub, _ = strings.Cut(strings.ToLower(name.String()), ".")
			return section, sub, section != ""
		case c == ' ' || c == '\t':
			sub, ok = r.subsection()
			return strings.ToLower(name.String()), sub, ok && name.Len() > 0
		case isAlpha(c) || isDigit(c) || c == '-' || c == '.':
			name.WriteByte(c)
		default:
			return "", "", false
		}
	}
}

// subsection reads "…"] behind a section's name.
func (r *reader) subsection() (string, bool) {
	rest := strings.TrimLeft(r.text[r.at:], " \t")
	r.at = len(r.text) - len(rest)
	if c, _ := r.next(); c != '"' {
		return "", false
	}
	var sub strings.Builder
	for {
		c, more := r.next()
		if c == '\\' {
			c, more = r.next()
		} else if c == '"' {
			c, _ = r.next()
			return sub.String(), c == ']'
		}
		if !more || c == '\n' {
			return "", false
		}
		sub.WriteByte(c)
	}
}

// variable reads a variable whose name begins with c.
func (r *reader) variable(c byte) (key, value string, ok bool) {
	name := []byte{c}
	for {
		c, more := r.next()
		switch {
		case !more || c == '\n':
			return strings.ToLower(string(name)), "", true
		case isAlpha(c) || isDigit(c) || c == '-':
			name = append(name, c)
			continue
		}
		for c == ' ' || c == '\t' {
			if c, more = r.next(); !more || c == '\n' {
				return strings.ToLower(string(name)), "", true
			}
		}
		if c != '=' {
			return "", "", false
		}
		value, ok = r.value()
		return strings.ToLower(string(name)), value, ok
	}
}

// value reads to the end of the line, or of those that it goes on in.
func (r *reader) value() (string, bool) {
	var value []byte
	quoted, kept := false, 0 // kept is the length with no space at the end
	for {
		c, more := r.next()
		switch {
		case !more || c == '\n':
			return string(value[:kept]), !quoted
		case (c == ' ' || c == '\t') && !quoted:
			if kept > 0 || len(value) > 0 {
				value = append(value, c)
			}
			continue
		case (c == '#' || c == ';') && !quoted:
			r.line()
			return string(value[:kept]), true
		case c == '"':
			quoted = !quoted
			kept = len(value)
			continue
		case c == '\\':
			c, more = r.next()
			plain, known := map[byte]byte{'t': '\t', 'b': '\b', 'n': '\n', '\\': '\\', '"': '"'}[c]
			if c == '\n' {
				continue
			}
			if !more || !known {
				return "", false
			}
			c = plain
		}
		value = append(value, c)
		kept = len(value)
	}
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
