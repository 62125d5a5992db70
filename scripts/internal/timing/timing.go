package timing

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A Case is one thing that is measured.
type Case struct {
	Name string
	// Do does it once; its error ends the measuring.
	Do func(context.Context) error
}

// warmUps are rounds that are not counted: they fill caches, of the disk and of
// the sandbox's own knowledge of the machine.
const warmUps = 3

// Times are those of one case.
type Times struct {
	Name string
	All  []time.Duration
}

// Measure does every case once a round, a round starting with another case each
// time.
func Measure(ctx context.Context, rounds int, cases []Case) ([]Times, error) {
	all := make([]Times, len(cases))
	for i, c := range cases {
		all[i].Name = c.Name
	}
	for round := range warmUps + rounds {
		for i := range cases {
			i = (i + round) % len(cases)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			start := time.Now()
			if err := cases[i].Do(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", cases[i].Name, err)
			}
			if round >= warmUps {
				all[i].All = append(all[i].All, time.Since(start))
			}
		}
	}
	return all, nil
}

// Quantile gives the time that a share q of all do not exceed.
func (t Times) Quantile(q float64) time.Duration {
	if len(t.All) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t.All))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Median is the middle time.
func (t Times) Median() time.Duration { return t.Quantile(0.5) }

// Table writes a line a case, in milliseconds, and the ratio of its median to
// that of the case named.
func Table(out io.Writer, all []Times, beside string) error {
	var base time.Duration
	for _, t := range all {
		if t.Name == beside {
			base = t.Median()
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "median\tmin\tp90\tratio\t  what\n")
	for _, t := range all {
		ratio := "-"
		if base > 0 {
			ratio = fmt.Sprintf("%.2f", float64(t.Median())/float64(base))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t  %s\n", ms(t.Median()), ms(t.Quantile(0)), ms(t.Quantile(0.9)), ratio, t.Name)
	}
	return w.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }
