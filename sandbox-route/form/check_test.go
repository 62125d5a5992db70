package form_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

func TestChecks(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, c := range []struct {
		name      string
		check     func(string) error
		good, bad []string
	}{
		{"name", form.Name, []string{"a", "A", "7", "a.b_c-d", "a.", "a-", long[:64]},
			[]string{"", ".", "..", ".a", "-a", "_a", "a..b", "a/b", "a\\b", "a b", "a\n", "a\x00", "é", "a%", long}},
		{"path", form.Path, []string{"/", "/a", "/a b", "/a\tb", "/é", "/...", "/a/.b", "/Icon\r"},
			[]string{"", "a", "./a", "~", "~/a", "/a/", "//a", "/a//b", "/.", "/a/.", "/a/..", "/a/../b", "/a\x00", "/a\n", "\x00", "/\xff"}},
		{"argument", form.Argument, []string{"", "a", "a\nb", "é"}, []string{"\x00", "a\x00", "\xff"}},
		{"token", form.Token, []string{"a", "*.a", "[::1]:80", "é", "a@b"}, []string{"", " ", "a b", "a\tb", "a\n", "a\u00a0b", "a\u2028b", "a\x00", "a\x7f", "a\u200b", "a\u202eb", "\xff"}},
		{"URL secret", form.URLSecret, []string{long[:16], long[:64], "0123456789ABCDEFabcdef"}, []string{"", long[:15], long, "0123456789abcde-", "0123456789abcde\n", "0123456789abcdeé", "0123456789abcde/"}},
		{"header value", form.HeaderValue, []string{"a", "Bearer a", "~!\"#"}, []string{"", " a", "a ", "a\tb", "a\r\nb", "a\x00", "é", "\x7f"}},
		{"header name", form.HeaderName, []string{"a", "X-Api-Key", "a!#$%&'*+-.^_`|~1"}, []string{"", "a b", "a:", "a\n", "é", "a(", "a/", "a\x00"}},
	} {
		for _, s := range c.good {
			if err := c.check(s); err != nil {
				t.Errorf("%s %q is refused: %v", c.name, s, err)
			}
		}
		for _, s := range c.bad {
			if err := c.check(s); err == nil {
				t.Errorf("%s %q is taken", c.name, s)
			} else if !errors.Is(err, form.ErrRequest) || strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Errorf("%s %q is refused with %q", c.name, s, err)
			}
		}
	}
}

// What may be a secret is not in the refusal of it.
func TestSecretsAreNotRepeated(t *testing.T) {
	const secret = "hunter2"
	for _, check := range []func(string) error{form.URLSecret, form.HeaderValue, form.Argument} {
		for _, s := range []string{secret + "\x00", secret + "\n\xff", " " + secret + "\x00"} {
			if err := check(s); err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%q: %v", s, err)
			}
		}
	}
}

// A name is one file's, wherever it is joined to a folder.
func TestNamesStayInTheirFolder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("aZ9._-/\\~ \n\x00é%")), 0, 6, -1).Draw(t, "name")
		if form.Name(s) != nil {
			return
		}
		if joined := filepath.Join("/d", s+".json"); filepath.Dir(joined) != "/d" || filepath.Base(joined) != s+".json" {
			t.Fatalf("%q leads to %s", s, joined)
		}
	})
}

func TestPathsAreClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("a./~\n\x00é ")), 0, 10, -1).Draw(t, "path")
		want := filepath.IsAbs(s) && filepath.Clean(s) == s && !strings.ContainsAny(s, "\n\x00")
		if got := form.Path(s) == nil; got != want {
			t.Fatalf("%q is a path: %v, want %v", s, got, want)
		}
	})
}

func TestLists(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{form.Argv([]string{"a", ""}), ""},
		{form.Argv(nil), "empty, want at least the program"},
		{form.Argv([]string{"", "a"}), "/0: empty, want the program"},
		{form.Argv([]string{"a", "\x00"}), "/1: holds a NUL"},
		{form.DistinctPorts([]uint16{1, 65535}), ""},
		{form.DistinctPorts([]uint16{1, 0}), "/1: 0: want a port of 1 to 65535"},
		{form.DistinctPorts([]uint16{1, 2, 1}), "/2: 1: named twice"},
		{form.Distinct([]string{"a", "A"}), ""},
		{form.Distinct([]string{"a", "b", "a"}), `/2: "a": named twice`},
		{form.OneOf("b", "a", "b"), ""},
		{form.OneOf("B", "a", "b"), `"B": not one of a, b`},
		{form.First(nil, form.At("x", nil), form.At("y", form.Refuse("z"))), "/y: z"},
		{form.At("a/~", form.AtIndex(3, form.Refuse("x"))), "/a~1~0/3: x"},
		{form.At("a", errors.New("plain")), "/a: plain"},
	} {
		if got := message(c.err); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		for _, got := range []string{form.OneLine(s), form.Quote(s), form.At(s, form.Refuse("x")).Error()} {
			if strings.ContainsAny(got, "\n\r\x00\x1b\u2028\u0085") || !utf8.ValidString(got) || len(got) > 2000 {
				t.Fatalf("%q becomes %q", s, got)
			}
		}
	})
	if got := form.OneLine("/a\n\x1b[2J\u202e\xff"); got != `/a\n\x1b[2J\u202e\ufffd` {
		t.Errorf("shown as %s", got)
	}
	if got := form.OneLine(strings.Repeat("a", 5000)); len(got) > 500 {
		t.Errorf("%d bytes of it are shown", len(got))
	}
	if got := form.Quote(strings.Repeat("é", 200)); len(got) > 130 || !utf8.ValidString(got) || !strings.HasSuffix(got, `é"…`) {
		t.Errorf("shown as %s", got)
	}
}

func TestAppend(t *testing.T) {
	b, err := form.Append([]byte("x"), map[string]any{"b": []string{}, "a": "<&>"})
	if err != nil || string(b) != `x{"a":"<&>","b":[]}`+"\n" {
		t.Errorf("wrote %s (%v)", b, err)
	}
	if b, err := form.Append([]byte("x"), strings.Repeat("a", form.MaxBytes-3)); err != nil || len(b) != 1+form.MaxBytes {
		t.Errorf("1 MiB: wrote %d bytes (%v)", len(b), err)
	}
	if b, err := form.Append([]byte("x"), strings.Repeat("a", form.MaxBytes-2)); err == nil || string(b) != "x" {
		t.Errorf("more than 1 MiB: wrote %d bytes (%v)", len(b), err)
	}
	if _, err := form.Append(nil, "\xff"); err == nil {
		t.Error("wrote what is not UTF-8")
	}
	if err := form.Write(failingWriter{}, 1); err == nil || errors.Is(err, form.ErrRequest) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }
