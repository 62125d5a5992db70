package landlock

import (
	"strings"
	"testing"
)

// What a kernel of each version is said to have closed.
func TestScopedByABI(t *testing.T) {
	for _, row := range []struct {
		abi     int
		all     bool
		missing string
	}{
		{0, false, "no Landlock"},
		{1, false, "Landlock 1"},
		{5, false, "Landlock 5"},
		{6, true, ""},
		{9, true, ""},
	} {
		s := scoped(row.abi, scopesOf(row.abi))
		if s.AbstractSockets != row.all || s.Signals != row.all || s.ABI != row.abi {
			t.Errorf("ABI %d: %+v", row.abi, s)
		}
		missing := s.Missing()
		if row.all != (missing == "") || !strings.Contains(missing, row.missing) {
			t.Errorf("ABI %d: %q", row.abi, missing)
		}
	}
	half := scoped(6, scopeAbstractSockets).Missing()
	if !strings.Contains(half, "signals") || strings.Contains(half, "sockets") {
		t.Errorf("signals alone missing: %q", half)
	}
}
