package suite

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/verdict"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// perPackage bounds the tests of one package.
const perPackage = "10m"

// A Runner runs the tests and prints a line a package.
type Runner struct {
	w   workspace.Workspace
	out io.Writer
	// folder holds all that a run makes. Its name is short: a test's sockets
	// lie below it, and a socket's path has 108 bytes at most (unix(7)).
	folder   string
	patterns []string
	env      []string // of every run
	before   traces
}

// NewRunner makes a runner of the packages that the patterns name.
func NewRunner(w workspace.Workspace, patterns []string, out io.Writer) (*Runner, error) {
	r := &Runner{w: w, out: out, patterns: patterns, folder: fmt.Sprintf("/tmp/lt%d", os.Getpid())}
	syscall.Umask(0o022) // what is made here is read by the ordinary user
	for _, dir := range []string{r.folder, r.tmp(), r.path("g")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
	}
	var err error
	r.before, err = r.lookAround()
	return r, err
}

// binaries names, to the tests of the command line, the folder of the binaries
// under test; where it is not set they build their own.
const binaries = "LNK_TEST_BIN"

// UseBinaries has the tests use a copy of the binaries of a folder, which every
// user can start.
func (r *Runner) UseBinaries(dir string, names ...string) error {
	for _, name := range names {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(r.path("b"), name)); err != nil {
			return err
		}
	}
	r.env = append(r.env, binaries+"="+r.path("b"))
	return nil
}

// Close removes all that was made.
func (r *Runner) Close() error { return os.RemoveAll(r.folder) }

// Folder is what the run keeps everything in.
func (r *Runner) Folder() string { return r.folder }

func (r *Runner) path(name string) string { return filepath.Join(r.folder, name) }

// tmp is the temporary folder of our own user's tests.
func (r *Runner) tmp() string { return r.path("r") }

// Present runs the tests as our own user.
func (r *Runner) Present(ctx context.Context) (verdict.Run, error) {
	run := verdict.Run{Name: fmt.Sprintf("uid %d", os.Getuid()), UID: os.Getuid()}
	return r.goTest(ctx, run, []string{"TMPDIR=" + r.tmp()}, nil, r.patterns)
}

// raceOptions has a process wait less than a second at its end for races that
// are still to come: hundreds are started by these tests.
const raceOptions = "atexit_sleep_ms=20 "

// Race runs the tests of the packages that do things at once with the race
// detector, as our own user.
func (r *Runner) Race(ctx context.Context) (verdict.Run, error) {
	run := verdict.Run{Name: "race", UID: os.Getuid()}
	packages, err := r.concurrent(ctx)
	if err != nil || len(packages) == 0 {
		return run, err
	}
	env := []string{"TMPDIR=" + r.tmp(), "CGO_ENABLED=1", "GORACE=" + raceOptions + os.Getenv("GORACE")}
	return r.goTest(ctx, run, env, []string{"-race"}, packages)
}

// goTest runs go test and reads what it says into run.
func (r *Runner) goTest(ctx context.Context, run verdict.Run, env, flags, packages []string) (verdict.Run, error) {
	args := slices.Concat([]string{"test", "-json", "-count=1", "-timeout=" + perPackage}, flags, packages)
	cmd := r.w.Command(ctx, ".", slices.Concat([]string{"GOTMPDIR=" + r.path("g")}, r.env, env), args...)
	ownGroup(cmd)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return run, err
	}
	cmd.Stderr = r.out
	if err := cmd.Start(); err != nil {
		return run, err
	}
	readErr := run.Read(stdout, r.out)
	waitErr := cmd.Wait()
	if readErr != nil {
		return run, readErr
	}
	passed, failed, skipped := run.Counts()
	if ctx.Err() != nil {
		return run, ctx.Err()
	}
	// Its status says what the events said; without a failed test it says more.
	if waitErr != nil && failed == 0 {
		return run, fmt.Errorf("go test: %w", waitErr)
	}
	if passed+failed+skipped == 0 {
		return run, fmt.Errorf("go test of %v: no test was run", packages)
	}
	return run, nil
}

// ownGroup gives a command a session of its own, so that its tests have no
// terminal, whoever starts them, and so that stopping it stops all of it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
}
