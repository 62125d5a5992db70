package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
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
			if held := len(body) - len(rest) - got.Len(); r.SameLength() && held >= len(r.pairs[0].form) {
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
