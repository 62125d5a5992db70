package asks

import (
	"strings"
	"testing"
)

func TestFits(t *testing.T) {
	for _, c := range []struct {
		text          string
		rows, columns int
		want          bool
	}{
		{"\na\nb\nc", 24, 80, true},
		{strings.Repeat("x", 80*12), 24, 80, true},
		{strings.Repeat("x", 80*12+1), 24, 80, false},
		{strings.Repeat("字", 40*12), 24, 80, true},
		{strings.Repeat("字", 40*12+1), 24, 80, false},
		{strings.Repeat("\n", 12), 24, 80, false},
		{strings.Repeat("x", 80*13), 0, 0, false},
		{strings.Repeat("\n", 5), 4, 80, true},
		{strings.Repeat("x", 200), 10, 20, false},
	} {
		if got := fits(c.text, c.rows, c.columns); got != c.want {
			t.Errorf("%d bytes on %d×%d: %v", len(c.text), c.rows, c.columns, got)
		}
	}
}
