package stages

import (
	"errors"
	"strings"
	"testing"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
)

// A start that failed is tried again where something of its plan changed, and
// nothing else is: not a program that was not found, and not one that ran.
func TestChangedMeanwhile(t *testing.T) {
	changed := &linuxwall.Plan{Steps: []linuxwall.Step{{Verb: linuxwall.CloseFile, At: "/no/such", Is: linuxwall.Node{Kind: linuxwall.File}}}}
	for _, c := range []struct {
		name  string
		plan  *linuxwall.Plan
		err   error
		again bool
	}{
		{"set up", changed, &launch.Error{Status: 125, What: "x"}, true},
		{"nothing changed", &linuxwall.Plan{}, &launch.Error{Status: 125, What: "x"}, false},
		{"not found", changed, &launch.Error{Status: 127, What: "x"}, false},
		{"ended", changed, &launch.Error{Status: 137, What: "x"}, false},
		{"ran", changed, nil, false},
	} {
		if got := errors.Is(changedMeanwhile(c.plan, c.err), linuxwall.ErrChanged); got != c.again {
			t.Errorf("%s: again %v, want %v", c.name, got, c.again)
		}
	}
}

func TestCoversStay(t *testing.T) {
	plan := &linuxwall.Plan{Steps: []linuxwall.Step{
		{Verb: linuxwall.Read, At: "/etc"}, {Verb: linuxwall.Tell, At: "/etc/hosts"},
		{Verb: linuxwall.Write, At: "/w"}, {Verb: linuxwall.Read, At: "/w/.git"},
		{Verb: linuxwall.Pin, At: "/w/a"}, {Verb: linuxwall.Read, At: "/w/a/.git"},
	}}
	const hosts = "9 1 0:5 /x /etc/hosts ro - tmpfs x rw\n"
	const both = "10 1 8:1 /w /w rw - ext4 x rw\n11 10 8:1 /w/.git /w/.git ro - ext4 x rw\n" +
		"12 10 8:1 /w/a /w/a rw - ext4 x rw\n13 12 8:1 /w/a/.git /w/a/.git ro - ext4 x rw\n" + hosts
	for _, c := range []struct {
		name  string
		table []string
		why   string
	}{
		{"all there", []string{both, both}, ""},
		{"renamed", []string{both, strings.ReplaceAll(both, " /w/.git ro", " /w/g ro")}, "/w/.git was replaced, renamed or removed"},
		{"moved into another folder", []string{both, strings.ReplaceAll(both, " /w/a/.git ro", " /w/b/.git ro")}, "/w/a/.git was replaced, renamed or removed"},
		{"a folder above renamed", []string{both, strings.ReplaceAll(both, " /w/a", " /w/b")}, ""},
		{"names of this machine replaced", []string{both, strings.ReplaceAll(both, hosts, "")}, ""},
		{"gone", []string{both, strings.ReplaceAll(both, "11 10", "19 1")}, "/w/.git was replaced, renamed or removed"},
		{"another in its place", []string{both, strings.ReplaceAll(both, "11 10", "14 10")}, "/w/.git was replaced, renamed or removed"},
		{"gone from the start", []string{strings.ReplaceAll(both, "/w/.git ro", "/w/g ro")}, "/w/.git: changed since"},
	} {
		stay := coversStay(plan)
		var err error
		for _, table := range c.table {
			err = stay(table)
		}
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.name, err, c.why)
		}
	}
}
