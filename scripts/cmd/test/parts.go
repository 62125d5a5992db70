package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/alone"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/machine"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/verdict"
)

// systems are those that the code is checked for, each as it is shipped:
// without cgo.
var systems = [][]string{
	{"GOOS=linux", "CGO_ENABLED=0"},
	{"GOOS=darwin", "CGO_ENABLED=0"},
}

func (s *state) machine(ctx context.Context) error { return machine.Install(ctx, s.out) }

func (s *state) format(ctx context.Context) error {
	out, err := s.w.Go(ctx, ".", nil, "env", "GOROOT")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(strings.TrimSpace(string(out)), "bin", "gofmt"), "-l", ".")
	cmd.Dir = s.w.Root
	listed, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("gofmt: %w: %s", err, listed)
	}
	if len(listed) > 0 {
		return fmt.Errorf("not formatted, gofmt -w mends it:\n%s", listed)
	}
	return nil
}

func (s *state) vet(ctx context.Context) error {
	var all []error
	for _, system := range systems {
		_, err := s.w.Go(ctx, ".", system, "vet", "work")
		if err != nil {
			err = fmt.Errorf("%s: %w", system[0], err)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

func (s *state) staticcheck(ctx context.Context) error {
	tool, err := s.w.Tool(ctx, "honnef.co/go/tools/cmd/staticcheck")
	if err != nil {
		return err
	}
	// All systems as one: a renderer that only Linux calls is no dead code.
	var matrix strings.Builder
	for _, system := range systems {
		fmt.Fprintf(&matrix, "%s: %s\n", strings.TrimPrefix(system[0], "GOOS="), strings.Join(system, " "))
	}
	cmd := exec.CommandContext(ctx, tool, "-matrix", "work")
	cmd.Dir = s.w.Root
	cmd.Stdin = strings.NewReader(matrix.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("staticcheck: %w\n%s", err, out)
	}
	return nil
}

func (s *state) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.w.Root, "scripts", "build"))
	cmd.Stdout, cmd.Stderr = s.out, s.out
	if err := cmd.Run(); err != nil {
		return err
	}
	// What has just been built is what is tested.
	return s.runner.UseBinaries(filepath.Join(s.w.Root, "bin"), "lnk", "lnk-sandbox", "sandbox-wall", "sandbox-call")
}

func (s *state) alone(ctx context.Context) error {
	var all []error
	for _, m := range s.w.Modules {
		all = append(all, alone.Check(ctx, s.w, m))
	}
	return errors.Join(all...)
}

// tests are run as we are.
func (s *state) tests(ctx context.Context) error {
	undo, err := s.namespaces(ctx)
	if err != nil {
		return err
	}
	run, err := s.runner.Present(ctx)
	return errors.Join(s.take(run, err), undo())
}

// ordinary runs the tests again as an ordinary user, where we are root.
func (s *state) ordinary(ctx context.Context) error {
	if os.Geteuid() != 0 {
		fmt.Fprintln(s.out, "not root: the tests have been run as an ordinary user already")
		return nil
	}
	user, err := machine.NewUser(ctx)
	if err != nil {
		return err
	}
	s.user = user
	fmt.Fprintf(s.out, "as %s, uid %d\n", user.Name, user.UID)
	undo, err := s.namespaces(ctx)
	if err != nil {
		return err
	}
	run, err := s.runner.Ordinary(ctx, user)
	return errors.Join(s.take(run, err), undo())
}

func (s *state) race(ctx context.Context) error {
	run, err := s.runner.Race(ctx)
	return s.take(run, err)
}

// fuzz looks for inputs that break what must hold.
func (s *state) fuzz(ctx context.Context) error { return s.runner.Fuzz(ctx) }

// take keeps a run for the totals, where each failed test counts once.
func (s *state) take(run verdict.Run, err error) error {
	s.runs = append(s.runs, run)
	return err
}

// namespaces lets the test binaries have user namespaces where the system asks
// for a profile.
func (s *state) namespaces(ctx context.Context) (undo func() error, err error) {
	if os.Geteuid() != 0 {
		return func() error { return nil }, nil
	}
	return machine.AllowNamespaces(ctx, s.runner.Folder())
}

// left holds the tests to leaving nothing.
func (s *state) left(context.Context) error {
	left, err := s.runner.LeftBehind(s.user)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("the tests left behind:\n  %s", strings.Join(left, "\n  "))
	}
	return nil
}
