package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/timing"
)

// calls is how many calls one round makes of each, one after the other.
const calls = 20

// outsideCall is what a call of a tool is measured beside.
const outsideCall = "true, started outside"

// toolBench measures a call of a tool from inside a sandbox, beside the same
// program started outside. Rounds of both take turns.
func toolBench(ctx context.Context, rounds int) error {
	r, err := newRig(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	self, err := copySelf(r.project)
	if err != nil {
		return err
	}
	lnk := filepath.Join(r.bin, "lnk")
	if _, err := r.output(ctx, "", lnk, "sandbox", "tool", "add", "bench-true", "--ask", "none", "--", "true"); err != nil {
		return err
	}
	run := func(name string, flags ...string) []string {
		argv := append([]string{lnk, "sandbox", "run", "--yes", "--write", r.project}, flags...)
		return append(argv, "--", self, "calls", strconv.Itoa(calls), name)
	}
	cases := []struct {
		timing.Times
		argv []string
	}{
		{timing.Times{Name: outsideCall}, []string{self, "calls", strconv.Itoa(calls), "true"}},
		{timing.Times{Name: "true, started inside"}, run("true", "--tool", "bench-true")},
		{timing.Times{Name: "the tool, called inside"}, run("bench-true", "--tool", "bench-true")},
	}
	before := loadAverage()
	for range rounds {
		for i := range cases {
			out, err := r.output(ctx, "", cases[i].argv...)
			if err != nil {
				return fmt.Errorf("%s: %w", cases[i].Name, err)
			}
			for _, word := range strings.Fields(string(out)) {
				ns, err := strconv.ParseInt(word, 10, 64)
				if err != nil {
					return err
				}
				cases[i].All = append(cases[i].All, time.Duration(ns))
			}
		}
	}
	fmt.Printf("%s; %d rounds of %d calls; ms\n", machine(ctx), rounds, calls)
	fmt.Printf("load %s before, %s after: a busy machine slows all and hides what differs\n", before, loadAverage())
	if err := timing.Table(os.Stdout, []timing.Times{cases[0].Times, cases[1].Times, cases[2].Times}, outsideCall); err != nil {
		return err
	}
	over := cases[2].Median() - cases[0].Median()
	fmt.Printf("a call costs %.2f ms over running the tool outside (at the least %.2f); 15 is what it may\n",
		over.Seconds()*1e3, (cases[2].Quantile(0)-cases[0].Quantile(0)).Seconds()*1e3)
	return nil
}

// copySelf puts this program where a sandbox sees it.
func copySelf(dir string) (string, error) {
	from, err := os.Executable()
	if err != nil {
		return "", err
	}
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	path := filepath.Join(dir, "bench")
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	return path, errors.Join(err, out.Close())
}

// callsMain starts a program so many times and prints how long each took, in
// nanoseconds. It is what this program does inside.
func callsMain(args []string) error {
	if len(args) != 2 {
		return errors.New("want how many, and a program")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for range n {
		start := time.Now()
		if out, err := exec.Command(args[1]).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[1], err, out)
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
	return nil
}
