package cli

import (
	"strings"
	"testing"
)

// That there are too many names is told once, whichever of them it is.
func TestTooManyNamesAreToldOnce(t *testing.T) {
	var out strings.Builder
	w := &way{told: newTeller(&out, proxyFlags{Tell: true})}
	w.full("a.test")
	w.full("b.test")
	if got := out.String(); got != "lnk sandbox run: refused more names: 16384 were asked for within an hour, and each has an address of its own; by its proxy variables a program needs none\n" {
		t.Errorf("told %q", got)
	}
}
