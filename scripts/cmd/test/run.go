package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/machine"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/suite"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/verdict"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// A part is one thing that must be good. Its name is what --only takes.
type part struct {
	name string
	do   func(*state, context.Context) error
	// tests says that it runs tests, which are counted one by one.
	tests bool
}

// parts are done in this order: what is quick and fails early stands first.
var parts = []part{
	{"machine", (*state).machine, false},
	{"format", (*state).format, false},
	{"vet", (*state).vet, false},
	{"staticcheck", (*state).staticcheck, false},
	{"build", (*state).build, false},
	{"alone", (*state).alone, false},
	{"tests", (*state).tests, true},
	{"ordinary", (*state).ordinary, true},
	{"fuzz", (*state).fuzz, false},
	{"race", (*state).race, true},
	{"left", (*state).left, false},
}

func names() []string {
	var all []string
	for _, p := range parts {
		all = append(all, p.name)
	}
	return all
}

// A state is what the parts share.
type state struct {
	out    io.Writer
	w      workspace.Workspace
	runner *suite.Runner
	user   *machine.User // the ordinary one, once there is one
	runs   []verdict.Run
}

// run does the parts and says whether all was good.
func run(ctx context.Context, out io.Writer, only string, packages []string) bool {
	chosen, err := choose(only)
	if err != nil {
		fmt.Fprintln(out, "test:", err)
		return false
	}
	s, err := newState(out, packages)
	if err != nil {
		fmt.Fprintln(out, "test:", err)
		return false
	}
	var failed []string
	var times []string
	passed, begun := 0, time.Now()
	for _, p := range chosen {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(out, "\n== %s\n", p.name)
		start := time.Now()
		if err := p.do(s, ctx); err != nil {
			fmt.Fprintf(out, "FAIL %s: %v\n", p.name, err)
			failed = append(failed, p.name)
		} else if !p.tests {
			passed++
		}
		times = append(times, fmt.Sprintf("%s %s", p.name, time.Since(start).Round(100*time.Millisecond)))
	}
	for _, err := range []error{s.close(), ctx.Err()} {
		if err != nil {
			fmt.Fprintf(out, "FAIL %v\n", err)
			failed = append(failed, "end")
		}
	}
	fmt.Fprintf(out, "\n== total\ntimes: %s; in all %s\n", strings.Join(times, ", "), time.Since(begun).Round(time.Second))
	good := s.total(passed, failed)
	if good && only == "" && len(packages) == 0 {
		s.remember(ctx)
	}
	return good
}

// remember writes down which commit has passed, for scripts/release. A tree
// that differs from its commit has not.
func (s *state) remember(ctx context.Context) {
	if commit, clean, err := s.w.Commit(ctx); err == nil && clean {
		if err := os.WriteFile(s.w.TestedFile(), []byte(commit+"\n"), 0o644); err != nil {
			fmt.Fprintln(s.out, "test:", err)
		}
	}
}

// choose gives the parts that --only names. The machine is always looked at.
func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	wanted := strings.Split(only, ",")
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("--only %s: no such part: one of %s", name, strings.Join(names(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		return p.name != "machine" && !slices.Contains(wanted, p.name)
	}), nil
}

func newState(out io.Writer, packages []string) (*state, error) {
	w, err := workspace.Find(".")
	if err != nil {
		return nil, err
	}
	if len(packages) == 0 {
		packages = []string{"work"} // every package of the workspace
	}
	runner, err := suite.NewRunner(w, packages, out)
	return &state{out: out, w: w, runner: runner}, err
}

// close removes what was made. What still runs, when the run was stopped before
// its end, is ended: a user that has processes cannot be removed.
func (s *state) close() error {
	_, userErr := s.runner.LeftBehind(s.user)
	if s.user != nil {
		userErr = errors.Join(userErr, s.user.Remove())
	}
	return errors.Join(userErr, s.runner.Close())
}

// noSkips says whether a skip that could have run fails.
func noSkips() bool { return os.Getenv("CI") == "true" || os.Getenv("LNK_NO_SKIP") == "1" }

// total prints every skip with its reason, and the totals on a line of their
// own: the tests of all runs, and the parts that are not tests.
func (s *state) total(passed int, failedParts []string) bool {
	failed, skipped := 0, 0
	for _, r := range s.runs {
		p, f, k := r.Counts()
		fmt.Fprintf(s.out, "%s: %d packages, %d tests passed, %d failed, %d skipped\n", r.Name, r.Packages, p, f, k)
		passed, failed, skipped = passed+p, failed+f, skipped+k
		for _, t := range r.Failed() {
			fmt.Fprintf(s.out, "failed: %s: %s %s\n", r.Name, t.Package, t.Name)
		}
		for _, skip := range r.Skips {
			fmt.Fprintf(s.out, "skipped: %s: %s %s: %s\n", r.Name, skip.Package, skip.Name, skip.Reason)
		}
	}
	for _, f := range verdict.Unjustified(s.runs, machine.Facts()) {
		word := "could have run"
		if noSkips() {
			word, failed, skipped = "failed: could have run", failed+1, skipped-1
		}
		fmt.Fprintf(s.out, "%s: %s: %s %s: %q: %s\n", word, f.Run, f.Package, f.Name, f.Reason, f.Because)
	}
	for _, name := range failedParts {
		fmt.Fprintf(s.out, "failed: %s\n", name)
	}
	failed += len(failedParts)
	fmt.Fprintf(s.out, "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return failed == 0
}
