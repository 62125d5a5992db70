package cli

import "testing"

func TestAskedFor(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"web", "web-run-", "web-run-x", "web-run--1", "webs-run-7", "run-7"}, ""},
		{[]string{"web-run-9", "other", "web-run-12"}, "; of its runs: lnk sandbox log web-run-12, or lnk sandbox log web-run-9"},
		{[]string{"web-run-9", "web-run-9"}, "; of its runs: lnk sandbox log web-run-9"},
		{[]string{"web-run-1", "web-run-2", "web-run-3", "web-run-4"}, "; its runs are called web-run-<process>: there are 4"},
	} {
		if got := askedFor("log", "web", c.names); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}
