package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime/quotedprintable"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	value       = `ghp_A1b2"C3d4<&>/E5f6+'Z9`
	placeholder = `ghp_X7y8"W6v5<&>/U4t3+'Q2`
)

// everyEcho is each way in which the tests' host writes what it was sent.
var everyEcho = map[string]func(string) string{
	"as it is":  func(s string) string { return s },
	"a query":   url.QueryEscape,
	"a path":    url.PathEscape,
	"JSON":      func(s string) string { b, _ := json.Marshal(map[string]string{"h": s}); return string(b) },
	"HTML":      html.EscapeString,
	"hex":       func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":       func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"base64":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64url": func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"Basic 1":   func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + s)) },
	"Basic 2":   func(s string) string { return base64.StdEncoding.EncodeToString([]byte("us:" + s + ":after")) },
	"Basic 3":   func(s string) string { return base64.StdEncoding.EncodeToString([]byte("git:" + s + "x")) },
}

func TestForms(t *testing.T) {
	r := New(value, placeholder)
	if !r.SameLength() {
		t.Error("the lengths are the same and it says that they are not")
	}
	for name, echo := range everyEcho {
		sent, want := "before "+echo(value)+" after", "before "+echo(placeholder)+" after"
		got := r.String(sent)
		if strings.Contains(name, "Basic") || strings.Contains(name, "base64") {
			if decodes(got, value) {
				t.Errorf("%s: the value is in %q", name, got)
			}
			continue // the characters at its ends are shared
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// decodes says whether more than two thirds of the value can be read out of a
// base64 text.
func decodes(text, value string) bool {
	for _, word := range strings.Fields(text) {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			if b, err := e.DecodeString(word); err == nil && bytes.Contains(b, []byte(value[len(value)/6:len(value)-len(value)/6])) {
				return true
			}
		}
	}
	return false
}

// Wherever a body is cut, it comes out as if it had come whole, and nothing is
// held back that begins no form.
func TestStreamIsCutAnywhere(t *testing.T) {
	r := New(value, placeholder).With("Basic c2VudA==", "Basic c2FpZA==")
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(
			rapid.SampledFrom([]string{value, value[:7], value[3:], "ghp", "\n", "Basic c2VudA==", "Basic c2V", placeholder}),
			rapid.StringMatching(`[ -~]{0,12}`),
			rapid.Custom(func(t *rapid.T) string {
				return everyEcho[rapid.SampledFrom([]string{"base64", "hex", "JSON", "Basic 1"}).Draw(t, "echo")](value)
			}),
		)
		body := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
		want := r.String(body)
		s := r.Stream()
		var got bytes.Buffer
		for rest := body; ; {
			n := rapid.IntRange(0, min(len(rest), 9)).Draw(t, "n")
			last := n == len(rest) && rapid.Bool().Draw(t, "last")
			got.Write(s.Next([]byte(rest[:n]), last))
			if rest = rest[n:]; last {
				break
			}
			if held := len(body) - len(rest) - got.Len(); r.SameLength() && held > len(value)*(maxEntity+maxBetween) {
				t.Fatalf("%d bytes are held back", held)
			}
		}
		if got.String() != want {
			t.Fatalf("%q came out as %q, want %q", body, got.String(), want)
		}
		if strings.Contains(got.String(), value) {
			t.Fatalf("the value is in %q", got.String())
		}
	})
}

func TestNothingIsHeldBackAtALineEnd(t *testing.T) {
	s := New(value, placeholder).Stream()
	for _, piece := range []string{"data: {}\n\n", "data: x\n", value + "\n"} {
		if got := s.Next([]byte(piece), false); len(got) != len(piece) {
			t.Errorf("%q: %q", piece, got)
		}
	}
}

func TestOtherLength(t *testing.T) {
	r := New("a-value-of-some-length", "short")
	if r.SameLength() {
		t.Error("lengths differ")
	}
	if got := r.String("<a-value-of-some-length>"); got != "<short>" {
		t.Error(got)
	}
	if got := New("", "x").String("abc"); got != "abc" {
		t.Error(got)
	}
	if got := New("abc", "abc").String("abc"); got != "abc" {
		t.Error(got)
	}
}

func TestWithLeavesTheFirstAlone(t *testing.T) {
	r := New(value, placeholder)
	a, b := r.With("aaaa", "bbbb"), r.With("cccc", "dddd")
	if r.In("aaaa") || a.In("cccc") || b.In("aaaa") || a.String("aaaa") != "bbbb" {
		t.Error("redactors share what they replace")
	}
}

// everyWriting are ways in which hosts write what they were sent, beside those of
// [everyEcho]: each is found, and what stands for it is as long and reads the
// same way.
var everyWriting = map[string]struct {
	write func(string) string
	read  func(string) string // nil where the tests have no reader
}{
	"every byte percent-encoded": {write: each(func(i int, c byte) string { return fmt.Sprintf([]string{"%%%02x", "%%%02X"}[i%2], c) }), read: must(url.PathUnescape)},
	"some percent-encoded":       {write: each(func(i int, c byte) string { return []string{fmt.Sprintf("%%%02x", c), string(c)}[i%2] })},
	"percent-encoded twice":      {write: func(s string) string { return url.QueryEscape(url.QueryEscape(s)) }},
	"percent-encoded thrice":     {write: func(s string) string { return url.QueryEscape(url.QueryEscape(url.QueryEscape(s))) }},
	"JSON of escapes alone":      {write: each(func(i int, c byte) string { return fmt.Sprintf([]string{`\u%04x`, `\u%04X`}[i%2], c) }), read: unquoted},
	"JSON of some escapes":       {write: each(func(i int, c byte) string { return []string{fmt.Sprintf(`\u%04x`, c), inJSON(string(c), false)}[i%2] }), read: unquoted},
	"JSON in JSON":               {write: func(s string) string { return inJSON(inJSON(s, false), false) }},
	"JSON with slashes escaped":  {write: func(s string) string { return strings.ReplaceAll(inJSON(s, false), "/", `\/`) }, read: unquoted},
	"a program's text":           {write: each(func(_ int, c byte) string { return fmt.Sprintf(`\x%02x`, c) }), read: unquoted},
	"HTML by numbers":            {write: each(func(_ int, c byte) string { return fmt.Sprintf("&#%d;", c) })},
	"HTML by zeros and numbers":  {write: each(func(_ int, c byte) string { return fmt.Sprintf("&#%07d;", c) }), read: html.UnescapeString},
	"HTML in hexadecimal":        {write: each(func(i int, c byte) string { return fmt.Sprintf([]string{"&#x%x;", "&#X%X;"}[i%2], c) })},
	"HTML by names":              {write: strings.NewReplacer("&", "&amp;", "<", "&LT;", ">", "&gt;", `"`, "&quot;", "'", "&apos;", "/", "&sol;", "+", "&plus;", "_", "&lowbar;").Replace, read: html.UnescapeString},
	"HTML twice": {write: func(s string) string {
		return strings.NewReplacer("'", "&amp;#39;", "<", "&amp;lt;", "_", "&amp;lowbar;", "-", "&amp;amp;#x2D;").Replace(s)
	}},
	"quoted-printable":        {write: quotedPrintable, read: readQuotedPrintable},
	"UTF-16":                  {write: each(func(_ int, c byte) string { return string([]byte{c, 0}) }), read: func(s string) string { return strings.ReplaceAll(s, "\x00", "") }},
	"UTF-16, the other way":   {write: each(func(_ int, c byte) string { return string([]byte{0, c}) })},
	"UTF-32":                  {write: each(func(_ int, c byte) string { return string([]byte{c, 0, 0, 0}) })},
	"hexadecimal with spaces": {write: each(func(i int, c byte) string { return fmt.Sprintf(" %02x", c) })},
	"hexadecimal with colons": {write: func(s string) string {
		return strings.TrimSuffix(each(func(_ int, c byte) string { return fmt.Sprintf("%02X:", c) })(s), ":")
	}},
	"hexadecimal in mixed case": {write: each(func(i int, c byte) string { return fmt.Sprintf([]string{"%02x", "%02X"}[i%2], c) })},
	"hexadecimal in lines":      {write: each(func(i int, c byte) string { return fmt.Sprintf("%02x", c) + strings.Repeat("\r\n   ", (i+1)%5/4) })},
	"a list of bytes":           {write: each(func(_ int, c byte) string { return fmt.Sprintf("0x%02x, ", c) })},
	"base64 in lines":           {write: func(s string) string { return inLines(base64.StdEncoding.EncodeToString([]byte("user:"+s)), "\r\n", 7) }, read: fromBase64},
	"base64url in folded lines": {write: func(s string) string { return inLines(base64.RawURLEncoding.EncodeToString([]byte("a"+s)), "\n\t", 5) }},
	"base64 in lines, in JSON": {write: func(s string) string {
		return inJSON(inLines(base64.StdEncoding.EncodeToString([]byte("us"+s)), "\r\n", 9), false)
	}},
	"base64 in a query": {write: func(s string) string {
		return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("?>?" + s + "~~")))
	}},
	"base64 in HTML": {write: func(s string) string {
		return strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte("?>?"+s+"~~")), "+", "&#43;")
	}},
	"base64 in UTF-16": {write: func(s string) string {
		return each(func(_ int, c byte) string { return string([]byte{c, 0}) })(base64.StdEncoding.EncodeToString([]byte(s)))
	}},
}

func each(write func(i int, c byte) string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			b.WriteString(write(i, s[i]))
		}
		return b.String()
	}
}

func must(read func(string) (string, error)) func(string) string {
	return func(s string) string {
		text, err := read(s)
		if err != nil {
			return err.Error()
		}
		return text
	}
}

func unquoted(s string) string {
	var text string
	s = strings.ReplaceAll(s, `\x`, `\u00`)
	if err := json.Unmarshal([]byte(`"`+s+`"`), &text); err != nil {
		return err.Error()
	}
	return text
}

func quotedPrintable(s string) string {
	var b strings.Builder
	w := quotedprintable.NewWriter(&b)
	w.Write([]byte(strings.Repeat("x", 65) + s)) // so that the line breaks in it
	w.Close()
	return b.String()[65:]
}

func readQuotedPrintable(s string) string {
	b, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(s)))
	return must(func(string) (string, error) { return string(b), err })(s)
}

func inLines(s, end string, n int) string {
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + end)
		s = s[n:]
	}
	return b.String() + s
}

func fromBase64(s string) string {
	b, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\r", "", "\n", "").Replace(s))
	if err != nil {
		return err.Error()
	}
	_, text, _ := strings.Cut(string(b), ":")
	return text
}

func TestEveryWriting(t *testing.T) {
	for _, secret := range [][2]string{
		{value, placeholder},
		{"tok-0123456789abcdefABCDEF", "tok-98765432109876543210ab"},
		{"Bearer tok-0123456789abcdefABCDEF", "Bearer tok-98765432109876543210ab"},
		{"tok-0123456789abcdefABC==", "tok-98765432109876543210="},
		{"&=-0123456789abcdefABC&=", "&=-9876543210987654321&="},
	} {
		r := New(secret[0], secret[1])
		said, stands := PartOf(secret[0]).Secret, PartOf(secret[1]).Secret
		for name, w := range everyWriting {
			sent := w.write(said)
			for _, around := range [][2]string{{"", "="}, {"", "%"}, {"", "&"}, {"", ""}, {"<p>", "</p>\n"}, {"%", "%"}, {`\`, `\`}, {"&", "="}} {
				whole := around[0] + sent + around[1]
				got := r.String(whole)
				if len(got) != len(whole) {
					t.Fatalf("%s: %q, which is %d bytes longer", name, got, len(got)-len(whole))
				}
				if got == whole {
					t.Errorf("%s: %q is not found", name, whole)
				}
				if !r.In(whole) {
					t.Errorf("%s: %q is not in", name, whole)
				}
				for cut := range len(whole) + 1 {
					s := r.Stream()
					out := string(s.Next([]byte(whole[:cut]), false))
					if out += string(s.Next([]byte(whole[cut:]), true)); out != got {
						t.Fatalf("%s: cut at %d it came out as %q, not %q", name, cut, out, got)
					}
				}
			}
			if got := r.String(sent); w.read != nil && !strings.Contains(name, "base64") && w.read(got) != stands {
				t.Errorf("%s: %q reads as %q, want %q", name, got, w.read(got), stands)
			}
			if got := r.String(sent); w.read != nil && strings.Contains(w.read(got), said[2:len(said)-2]) {
				t.Errorf("%s: %q reads as %q", name, got, w.read(got))
			}
		}
	}
}

// What a secret ends with may begin an escape.
func TestEndsInAnEscape(t *testing.T) {
	for _, end := range []string{"%", `\`, "&", "=", "%%", "&&"} {
		r := New("0123456789"+end, "9876543210"+end)
		for _, text := range []string{"0123456789" + end, `\x30123456789` + end, "%30123456789" + end + " ", each(func(_ int, c byte) string { return string([]byte{c, 0}) })("0123456789" + end)} {
			if got := r.String(text); got == text || len(got) != len(text) {
				t.Errorf("%q came out as %q", text, got)
			}
		}
	}
}

// What only looks like a part of it is left as it is.
func TestNothingElseIsReplaced(t *testing.T) {
	r := New(value, placeholder)
	for _, text := range []string{
		value[:len(value)-1], value[1:], url.QueryEscape(value)[:30], strings.ToUpper(value), "ghp_\n" + value[4:], "%", "%6", "%67%", `\`, `\u`, `\u00`, `\u0067`, "&", "&#", "&#103", "&#103;", "=", "=6", "=\r\n",
		strings.Repeat("%2525", 100), strings.Repeat("&amp;", 100), strings.Repeat(`\`, 100), strings.Repeat("=\r\n", 100), strings.Repeat("67 ", 100),
	} {
		if got := r.String(text); got != text {
			t.Errorf("%q came out as %q", text, got)
		}
		s := r.Stream()
		if got := string(s.Next([]byte(text), false)) + string(s.Next(nil, true)); got != text {
			t.Errorf("%q came out of a stream as %q", text, got)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	r := New("ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_9876543210abcdefghijABCDEFGHIJ012345")
	piece := bytes.Repeat([]byte(fmt.Sprintf("%s some ordinary text g h p\n", strings.Repeat("lorem ipsum ", 20))), 240)
	b.SetBytes(int64(len(piece)))
	s := r.Stream()
	for b.Loop() {
		s.Next(piece, false)
	}
}

func TestInFold(t *testing.T) {
	r := New("Ab-Cd-Ef", "Xx-Yy-Zz")
	if !r.InFold("X-Ab-cD-eF-1") || r.InFold("X-Ab-cD") || r.In("X-Ab-cD-eF-1") {
		t.Error("cases of letters")
	}
}

func TestFitted(t *testing.T) {
	r := New("0123456789", "ab").Fitted()
	if got := r.String("<0123456789>"); got != "<abxxxxxxxx>" || !r.SameLength() {
		t.Error(got)
	}
	if got := New("01", "abcd").Fitted().String("<01>"); got != "<ab>" {
		t.Error(got)
	}
}

// The secret in a header's value is found by itself, too.
func TestParts(t *testing.T) {
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct{ value, placeholder, secret, instead string }{
		{"Bearer tok-0123456789", "Bearer tok-9876543210", "tok-0123456789", "tok-9876543210"},
		{basic("git:tok-0123456789"), basic("git:tok-9876543210"), "tok-0123456789", "tok-9876543210"},
		{basic("tok-0123456789:x"), basic("tok-9876543210:x"), "tok-0123456789", "tok-9876543210"},
		{"Bearer tok-0123456789", "other", "tok-0123456789", "xxxxxxxxxxxxxx"},
	} {
		r := New(c.value, c.placeholder)
		for name, echo := range everyEcho {
			got := r.String("before " + echo(c.secret) + " after")
			if want := "before " + echo(c.instead) + " after"; got != want && !strings.Contains(name, "Basic") && !strings.Contains(name, "base64") {
				t.Errorf("%s, %s: %q, want %q", c.value, name, got, want)
			}
			if decodes(got, c.secret) {
				t.Errorf("%s, %s: %q", c.value, name, got)
			}
		}
		if got := r.String(c.value); strings.Contains(got, c.secret) || got == c.value {
			t.Error(got)
		}
		if p := PartOf(c.value); p.Secret != c.secret || p.With(p.Secret) != c.value {
			t.Errorf("%+v", p)
		}
	}
	if p := PartOf("Basic ???"); p.Basic || p.Secret != "???" || p.With("x") != "Basic x" {
		t.Errorf("%+v", p)
	}
	if r := New("Bearer short", "Bearer other"); r.In("short") {
		t.Error("a short part is looked for")
	}
}
