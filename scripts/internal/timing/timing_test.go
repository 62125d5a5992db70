package timing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMeasureTakesTurns(t *testing.T) {
	var done strings.Builder
	do := func(name string) Case {
		return Case{name, func(context.Context) error { done.WriteString(name); return nil }}
	}
	all, err := Measure(t.Context(), 3, []Case{do("a"), do("b"), do("c")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := done.String(), "abcbcacab"+"abcbcacab"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	for _, times := range all {
		if len(times.All) != 3 {
			t.Errorf("%s has %d times, want 3: the first rounds do not count", times.Name, len(times.All))
		}
	}
}

func TestMeasureStops(t *testing.T) {
	bad := errors.New("bad")
	_, err := Measure(t.Context(), 3, []Case{{"a", func(context.Context) error { return bad }}})
	if !errors.Is(err, bad) || !strings.HasPrefix(err.Error(), "a: ") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, 3, []Case{{"a", func(context.Context) error { return nil }}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestTable(t *testing.T) {
	times := func(name string, ms ...int) Times {
		t := Times{Name: name}
		for _, m := range ms {
			t.All = append(t.All, time.Duration(m)*time.Millisecond)
		}
		return t
	}
	var out strings.Builder
	err := Table(&out, []Times{
		times("bare", 30, 10, 20),
		times("ours", 1, 2, 3, 4, 50, 6, 7, 8, 9, 100),
	}, "bare")
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Fields(line))
	}
	want := [][]string{
		{"median", "min", "p90", "ratio", "what"},
		{"20.00", "10.00", "30.00", "1.00", "bare"},
		{"7.00", "1.00", "100.00", "0.35", "ours"},
	}
	for i := range want {
		if i >= len(lines) || !slices.Equal(lines[i], want[i]) {
			t.Fatalf("table\n%swant %q", out.String(), want)
		}
	}
}
