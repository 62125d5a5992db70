package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"
)

// leastBase64 is how much of a base64 form must be the value's alone for it to
// be looked for: less would be found where it is not.
const leastBase64 = 8

// forms gives each form of the value and the placeholder's.
func forms(value, placeholder string) [][2]string {
	var all [][2]string
	for _, as := range writings {
		all = append(all, [2]string{as(value), as(placeholder)})
	}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			form := within(e, before, value)
			if len(form) >= leastBase64 {
				all = append(all, [2]string{form, within(e, before, stretch(placeholder, len(value)))})
			}
		}
	}
	return all
}

// writings are the ways in which a host writes a text that it was sent.
var writings = []func(string) string{
	func(s string) string { return s },
	url.QueryEscape,
	url.PathEscape,
	func(s string) string { return lowerEscapes(url.QueryEscape(s)) },
	func(s string) string { return lowerEscapes(url.PathEscape(s)) },
	func(s string) string { return inJSON(s, true) },
	func(s string) string { return inJSON(s, false) },
	func(s string) string { return strings.ReplaceAll(inJSON(s, false), "/", `\/`) },
	html.EscapeString,
	func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace(s)
	},
	func(s string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s) },
	func(s string) string { return hex.EncodeToString([]byte(s)) },
	func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// inJSON writes a text as it stands between the quotes of a JSON string.
func inJSON(s string, forHTML bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(forHTML)
	e.Encode(s) // a string: it cannot fail
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}

// within gives the characters of a base64 text that are the value's alone, with
// that many bytes before it (of three) and any behind it: six bits a character,
// so those at its ends may be shared (RFC 4648 section 4).
func within(e *base64.Encoding, before int, value string) string {
	text := e.EncodeToString(append(make([]byte, before), value...))
	from, to := (8*before+5)/6, 8*(before+len(value))/6
	if from >= to {
		return ""
	}
	return text[from:to]
}

// stretch gives a text of n bytes that is s, again and again or cut.
func stretch(s string, n int) string {
	if s == "" {
		s = "x"
	}
	return strings.Repeat(s, n/len(s)+1)[:n]
}
