package tool

import (
	"slices"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestShown(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"gh", "pr", "list"}, "gh pr list"},
		{[]string{"a b", ""}, `"a b" ""`},
		{[]string{"a  b   c"}, `"a\x20\x20b\x20\x20\x20c"`},
		{[]string{"a\u3164b\u2800", "e\u0301"}, `"a\u3164b\u2800" "e\u0301"`},
		{[]string{"a\nb", "\x1b[2J", "\x00", "\xff"}, `"a\nb" "\x1b[2J" "\x00" "\xff"`},
		{[]string{"-o=x", "$(id)", "`id`", "a;b", "*"}, "-o=x \"$(id)\" \"`id`\" \"a;b\" \"*\""},
		{[]string{"\u202egnp", "\u200b", "é"}, `"\u202egnp" "\u200b" "é"`},
		{[]string{`a" b "c`}, `"a\" b \"c"`},
	} {
		if got := Shown(c.words); got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}

// No two calls look the same.
func FuzzShown(f *testing.F) {
	f.Add("a b", "c")
	f.Add("a", "b c")
	f.Add(`"a"`, "\x1b")
	f.Fuzz(func(t *testing.T, a, b string) {
		if one, other := Shown([]string{a, b}), Shown([]string{a + " " + b}); one == other {
			t.Fatalf("%q and %q are told apart by nothing: %s", a, b, one)
		}
		for _, r := range Shown([]string{a, b}) {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q shows %q", a, r)
			}
		}
	})
}

func TestPage(t *testing.T) {
	for said, want := range map[string]string{
		"https://example.com":                      "https://example.com",
		"http://example.com:8080/a?b=c#d":          "http://example.com:8080/a?b=c#d",
		"HTTPS://example.com/":                     "https://example.com/",
		"http://[::1]/x":                           "http://[::1]/x",
		"":                                         "",
		"example.com":                              "",
		"-https://example.com":                     "",
		"--help":                                   "",
		"file:///etc/passwd":                       "",
		"javascript:alert(1)":                      "",
		"ftp://example.com/":                       "",
		"https:///path":                            "",
		"https:example.com":                        "",
		"http://user@example.com/":                 "",
		"http://user:pw@example.com/":              "",
		"http://exam\nple.com/":                    "",
		"http://example.com/\x1b[2J":               "",
		"http://example.com/a b":                   "",
		"http://example.com/$(id)`id`":             "",
		"http://example.com/\"x":                   "",
		"http://example.com/é":                     "",
		"http://example.com/%zz":                   "",
		"http://" + strings.Repeat("a", maxURL):    "",
		" https://example.com":                     "",
		"https://example.com/\x00":                 "",
		"data:text/html,<script>alert(1)</script>": "",
	} {
		page, bad := page(said)
		if (bad == nil) != (want != "") || page != want {
			t.Errorf("%q: %q %v, want %q", said, page, bad, want)
		}
	}
}

func TestEnviron(t *testing.T) {
	got := environ([]string{
		"PATH=/w/.venv/bin:/run/lnk/bin::/usr/bin:bin:.:/w:/linked:/run/lnk", "HOME=/home/u", "LC_ALL=C", "SSH_AUTH_SOCK=/s", "LD_PRELOAD=/x", "HTTPS_PROXY=http://127.0.0.1",
		"XDG_CONFIG_HOME=/w/config", "XDG_DATA_DIRS=/usr/share:/w/share", "XDG_CACHE_HOME=/home/u/.cache", "LNK_TOOL_GH=x", "LNK_HOME=/l", "TOKEN=t", "PWD=/w", "BASH_ENV=/b", "GIT_SSH_COMMAND=x", "BROWSER=/run/lnk/bin/xdg-open", "TMPDIR=/tmp/in", "DISPLAY=:0",
	}, route.Beside{Write: []string{"/w"}, Resolve: func(p string) string {
		if p == "/linked" {
			return "/w/node_modules/.bin"
		}
		return p
	}})
	want := []string{"PATH=/usr/bin", "HOME=/home/u", "LC_ALL=C", "SSH_AUTH_SOCK=/s", "XDG_CACHE_HOME=/home/u/.cache", "DISPLAY=:0"}
	if want := append(want, pagerGuard...); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for pager, kept := range map[string]bool{
		"less -FRX": true, "/usr/bin/less": true, "cat": true, "": true, "more": false, "/usr/bin/pager": false, "vim -R": false, "env less": false, "sh -c less": false,
	} {
		if is := slices.Contains(environ([]string{"PAGER=" + pager}, route.Beside{}), "PAGER="+pager); is != kept {
			t.Errorf("the pager %q is kept: %v", pager, is)
		}
	}
}

func TestCheckWords(t *testing.T) {
	for _, c := range []struct {
		words []string
		ok    bool
	}{
		{nil, true}, {[]string{"", "a\nb", "\xff"}, true}, {[]string{"a\x00b"}, false},
		{[]string{strings.Repeat("a", maxWord)}, true}, {[]string{strings.Repeat("a", maxWord+1)}, false},
		{slices.Repeat([]string{"a"}, maxWords), true}, {slices.Repeat([]string{"a"}, maxWords+1), false},
		{slices.Repeat([]string{strings.Repeat("a", maxWord)}, 5), false},
	} {
		if r := checkWords(c.words); (r == nil) != c.ok {
			t.Errorf("%d words: %v", len(c.words), r)
		}
	}
}
