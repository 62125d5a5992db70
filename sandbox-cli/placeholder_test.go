package cli

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

func TestPlaceholderKeepsTheForm(t *testing.T) {
	for value, like := range map[string]string{
		"ghp_0123456789abcdefABCD":            "ghp_ddddddddddllllllUUUU",
		"sk-ant-api03-0123456789abcdefgh_-AB": "sk-ant-api03-ddddddddddllllllll_-UU",
		"Bearer 0123456789abcdefgh":           "Bearer ddddddddddllllllll",
		"abc-0123":                            "lllldddd",
		"/+=0a":                               "llldl",
		"0":                                   "d",
	} {
		got := placeholderFor(value)
		if len(got) != len(value) || got == value {
			t.Errorf("%s: %s", value, got)
			continue
		}
		for i := range like {
			want := map[byte]string{'d': digits, 'l': lowers, 'U': uppers}[like[i]]
			if want == "" || got[i] == value[i] && like[i] == value[i] {
				want = string(like[i])
			}
			if strings.IndexByte(want, got[i]) < 0 {
				t.Errorf("%s: %s is not like %s at %d", value, got, like, i)
				break
			}
		}
	}
	if got := redact.PartOf(placeholderFor("Basic eC1hY2Nlc3MtdG9rZW46Z2hwXzAxMjM0NTY3ODlhYmNkZWY=")); !got.Basic || got.Before != "x-access-token:" || !strings.HasPrefix(got.Secret, "ghp_") {
		t.Errorf("%+v", got)
	}
}

// Of a password, or of words, a placeholder tells the length and which characters
// are letters and digits, and no more.
func TestPlaceholderOfAPassword(t *testing.T) {
	for _, value := range []string{
		"12!@#$%^&*()_+{}|:<>?", "hunter2!hunter2!", "correct-horse-battery-staple-more-words-here", "Passwort: geheim123",
		"one two three four five six seven", "my_dog_is_called_rex_since_1999_or_so",
	} {
		got := placeholderFor(value)
		for i := 0; i+4 <= len(value); i++ {
			if strings.Contains(got, value[i:i+4]) {
				// By chance, once in many: not twice.
				if again := placeholderFor(value); strings.Contains(again, value[i:i+4]) && strings.Contains(placeholderFor(value), value[i:i+4]) {
					t.Errorf("%q for %q says %q", got, value, value[i:i+4])
				}
			}
		}
	}
}

// A placeholder is no route's refusal: it does not hold the value.
func TestPlaceholderIsNotTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[!-~]([ -~]{0,20}[!-~])?`).Draw(t, "value")
		got := placeholderFor(value)
		if strings.Contains(got, value) || got == "" {
			t.Fatalf("%q for %q", got, value)
		}
		for _, r := range got {
			if r < ' ' || r > '~' {
				t.Fatalf("%q for %q is no header's value", got, value)
			}
		}
	})
}
