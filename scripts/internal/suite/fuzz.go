package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// fuzzTime is how long each target is fuzzed, fuzzAtOnce how many are.
const (
	fuzzTime   = "10s"
	fuzzAtOnce = 2
)

// fuzzed are the targets that read what a hostile program or host sends first:
// each states what must hold, not only that nothing panics. The others run
// their seeds with the tests.
var fuzzed = []struct{ folder, target string }{
	{"sandbox-proxy", "FuzzConnectTarget"},
	{"sandbox-proxy/judge", "FuzzRules"},
	{"sandbox-proxy/hello", "FuzzParse"},
	{"sandbox-proxy", "FuzzSOCKS"},
	{"sandbox-proxy/names", "FuzzRespond"},
	{"sandbox-proxy", "FuzzHead"},
}

// Fuzz fuzzes each target for a while, as our own user.
func (r *Runner) Fuzz(ctx context.Context) error {
	places := make(chan struct{}, fuzzAtOnce)
	all := make([]error, len(fuzzed))
	var work sync.WaitGroup
	for i, f := range fuzzed {
		places <- struct{}{}
		work.Go(func() {
			defer func() { <-places }()
			all[i] = r.fuzz(ctx, f.folder, f.target)
		})
	}
	work.Wait()
	return errors.Join(all...)
}

func (r *Runner) fuzz(ctx context.Context, folder, target string) error {
	if _, err := os.Stat(filepath.Join(r.w.Root, folder)); err != nil {
		return fmt.Errorf("fuzz %s: %w", target, err)
	}
	// One worker each: two targets at once are two processors' work. Making an
	// input shorter that only looks interesting, since what it runs is not the
	// same twice, would take up the time.
	cmd := r.w.Command(ctx, folder, []string{"GOTMPDIR=" + r.path("g"), "TMPDIR=" + r.tmp()},
		"test", "-run=^$", "-fuzz=^"+target+"$", "-fuzztime="+fuzzTime, "-fuzzminimizetime=10x", "-parallel=1", "-timeout="+perPackage, ".")
	ownGroup(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil && !timeWasUp(out) {
		return fmt.Errorf("fuzz %s %s: %w\n%s", folder, target, err, out)
	}
	last := ""
	for _, line := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(line, "fuzz: ") && strings.Contains(line, "execs: ") {
			last = strings.TrimPrefix(line, "fuzz: ")
		}
	}
	if last == "" {
		return fmt.Errorf("fuzz %s %s: nothing was tried\n%s", folder, target, out)
	}
	fmt.Fprintf(r.out, "fuzz %s %s: %s\n", folder, target, last)
	return nil
}

// timeWasUp tells the end of the time, which go test reports as a failure when
// it comes while an input is being tried, from an input that fails: that one is
// written down, and named.
func timeWasUp(out []byte) bool {
	return bytes.Contains(out, []byte("\n    context deadline exceeded\nFAIL\n")) && !bytes.Contains(out, []byte("Failing input written"))
}
