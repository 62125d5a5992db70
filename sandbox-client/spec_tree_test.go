package client_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

type tree = map[string]any

// What a TOML library makes of a file is read as its JSON is.
func TestSpecFromTree(t *testing.T) {
	in := tree{
		"name": "web",
		"files": tree{
			"write": []any{"."}, "write_dot_files": []string{"./.git"}, "read": []any{}, "read_home": true,
		},
		"program": tree{"commands": tree{"only": []any{"/usr/bin/git"}}, "terminal": false},
		"network": tree{"mode": "proxied", "hosts": []any{}, "per_minute": int64(600), "ports": []any{int64(5432)}, "serve": []int{3000}},
	}
	spec, err := client.SpecFromTree(in)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := client.WriteSpecJSON(&b, spec); err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"web","files":{"write":["."],"write_dot_files":["./.git"],"read_home":true},"program":{"commands":{"only":["/usr/bin/git"]}},` +
		`"network":{"mode":"proxied","hosts":[],"per_minute":600,"ports":[5432],"serve":[3000]}}` + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if spec, err := client.SpecFromTree(nil); err != nil || spec.Name != "" {
		t.Errorf("an empty file: %+v (%v)", spec, err)
	}
}

func TestSpecFromTreeRefuses(t *testing.T) {
	deep := tree{}
	for range 100 {
		deep = tree{"files": deep}
	}
	for _, c := range []struct {
		tree tree
		want string
	}{
		{tree{"network": tree{"hots": []any{}}}, "network.hots: unknown"},
		{tree{"Network": tree{}}, "Network: unknown, names are case-sensitive: network"},
		{tree{"network": []any{}}, "network: want an object, got a list"},
		{tree{"network": tree{"mode": "proxied", "per_minute": 600.0}}, "network.per_minute: want a whole number of 1 to 2147483647"},
		{tree{"network": tree{"per_minute": 0.5}}, "network.per_minute: a number with a fraction, which no key takes"},
		{tree{"network": tree{"per_minute": math.Inf(1)}}, "network.per_minute: a number with a fraction, which no key takes"},
		{tree{"network": tree{"ports": []any{int64(1), time.Now()}}}, "network.ports[1]: a date or a time, which no key takes"},
		{tree{"name": time.Time{}}, "name: a date or a time, which no key takes"},
		{tree{"network": tree{"ports": []any{int64(70000)}}}, "network.ports[0]: want a whole number of 1 to 65535"},
		{tree{"network": tree{"ports": []any{uint64(math.MaxUint64)}}}, "network.ports[0]: want a whole number of 1 to 65535"},
		{tree{"network": tree{"hosts": nil}}, "network.hosts: a value of a kind that no key takes"},
		{tree{"files": tree{"write": []any{1}}}, "files.write[0]: want a string, got a number"},
		{tree{"files": tree{"write": []any{[]any{"x"}}}}, "files.write[0]: want a string, got a list"},
		{tree{"program": tree{"commands": []any{"any"}}}, `program.commands: want "any" or {"only": […]}, got a list`},
		{tree{"program": tree{"commands": tree{}}}, "program.commands.only: missing"},
		{tree{"program": tree{"commands": map[int]any{1: 1}}}, "program.commands: a table whose keys are not text"},
		{tree{"name": "\xff"}, ""},
		{tree{"\xff": "a"}, ""},
		{tree{"name": strings.Repeat("a", 2<<20)}, "more than 1 MiB"},
		{deep, ""},
	} {
		_, err := client.SpecFromTree(c.tree)
		if err == nil || c.want != "" && err.Error() != c.want {
			t.Errorf("\n got %v\nwant %s", err, c.want)
		}
		var e *client.SpecError
		if !errors.As(err, &e) || !errors.Is(err, client.ErrRequest) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%T %v is no refusal of a spec", err, err)
		}
	}
}
