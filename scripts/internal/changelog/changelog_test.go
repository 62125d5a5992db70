package changelog

import "testing"

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Entry
	}{
		{"unreleased", "# Changes\n\n## v0.2.0 (unreleased)\n\n- New.\n\n## v0.1.0 (2026-01-02)\n\n- Old.\n", Entry{"v0.2.0", "", "- New."}},
		{"released", "## v1.10.3 (2026-01-02)\n\n- Only.\n", Entry{"v1.10.3", "2026-01-02", "- Only."}},
	} {
		got, err := parse(c.text)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
	for name, text := range map[string]string{
		"no heading":       "# Changes\n",
		"no version":       "## next\n\n## v0.1.0 (unreleased)\n",
		"no day":           "## v0.1.0\n",
		"a day of nowhere": "## v0.1.0 (soon)\n",
	} {
		if got, err := parse(text); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		last, next string
		want       bool
	}{
		{"v0.1.0", "v0.1.1", false},
		{"v0.1.9", "v0.2.0", true},
		{"v0.9.0", "v0.10.0", true},
		{"v0.9.0", "v1.0.0", true},
		{"v1.2.0", "v1.3.0", false},
		{"v1.2.0", "v2.0.0", true},
		{"v0.2.0", "v0.1.0", false},
	} {
		if got := Allows(c.last, c.next); got != c.want {
			t.Errorf("from %s to %s: %v, want %v", c.last, c.next, got, c.want)
		}
	}
}

func TestHigher(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"v0.1.1", "v0.1.0", true},
		{"v0.10.0", "v0.9.9", true},
		{"v1.0.0", "v0.99.0", true},
		{"v0.1.0", "v0.1.0", false},
		{"v0.1.0", "v0.1.1", false},
	} {
		if got := Higher(c.a, c.b); got != c.want {
			t.Errorf("%s over %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
