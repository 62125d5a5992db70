package route_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestAsks(t *testing.T) {
	for _, c := range []struct {
		ask   route.Ask
		allow string // entries apart by ";", words by " "
		words string
		asks  bool
	}{
		{route.AskNone, "", "anything at all", false},
		{route.AskAll, "", "", true},
		{"", "", "x", true}, // what is neither asks
		{route.AskAll, "pr list", "pr list", false},
		{route.AskAll, "pr list", "pr", true},
		{route.AskAll, "pr list", "pr list --web", true},
		{route.AskAll, "pr list", "PR list", true},
		{route.AskAll, "pr *", "pr", false},
		{route.AskAll, "pr *", "pr list --web", false},
		{route.AskAll, "pr *", "prs", true},
		{route.AskAll, "* list", "pr list", false},
		{route.AskAll, "* list", "list", true},
		{route.AskAll, "* list", "a b list", true},
		{route.AskAll, "*", "", false},
		{route.AskAll, "*", "repo delete x", false},
		{route.AskAll, "api repos/*/issues", "api repos/a/b/issues", false},
		{route.AskAll, "api repos/*/issues", "api repos//issues", false},
		{route.AskAll, "api repos/*/issues", "api repos/issues", true},
		{route.AskAll, "api r*", "api r", false},
		{route.AskAll, "api r*", "api r x", true}, // within the word only
		{route.AskAll, "a*a", "a", true},          // the two do not overlap
		{route.AskAll, "a*b*c", "aXbYc", false},
		{route.AskAll, "a*b*c", "acb", true},
		{route.AskAll, "**", "x", false},
		{route.AskAll, "a.c", "abc", true}, // a dot is a dot
		{route.AskAll, "x;pr list", "pr list", false},
	} {
		tool := route.Tool{Ask: c.ask}
		if c.allow != "" {
			for entry := range strings.SplitSeq(c.allow, ";") {
				tool.Allow = append(tool.Allow, strings.Split(entry, " "))
			}
		}
		var words []string
		if c.words != "" {
			words = strings.Split(c.words, " ")
		}
		if got := tool.Asks(words); got != c.asks {
			t.Errorf("allow %q, called with %q: asks %v, want %v", c.allow, c.words, got, c.asks)
		}
	}
	// The empty entry is the call with no words, and that only.
	bare := route.Tool{Ask: route.AskAll, Allow: [][]string{{}}}
	if bare.Asks(nil) || !bare.Asks([]string{""}) {
		t.Error("the empty entry is not the call with no words")
	}
}

// A star within a word means what .* means to a regular expression.
func TestAsksIsAPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("ab*/.")), 0, 8, -1).Draw(t, "pattern")
		word := rapid.StringOfN(rapid.SampledFrom([]rune("ab*/.\n")), 0, 8, -1).Draw(t, "word")
		parts := strings.Split(pattern, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		want := regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(word)
		// A second word keeps the first from being a last one.
		tool := route.Tool{Ask: route.AskAll, Allow: [][]string{{pattern, "end"}}}
		if allowed := !tool.Asks([]string{word, "end"}); allowed != want {
			t.Fatalf("pattern %q allows %q: %v, want %v", pattern, word, allowed, want)
		}
	})
}
