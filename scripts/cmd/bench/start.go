package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/timing"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// one bounds one start; one that takes longer hangs.
const one = 30 * time.Second

const bare = "bwrap, the same mounts, no filter"

// A rig is what the starts are measured with.
type rig struct {
	dir     string // of all below but bin
	bin     string // the folder of lnk and lnk-sandbox
	project string // the folder that the sandboxes write
	env     []string
}

// wrapped is what "lnk sandbox wrap" prints.
type wrapped struct {
	Argv []string          `json:"argv"`
	Env  map[string]string `json:"env"`
}

// start measures how long a sandbox takes to start, as whoever runs it.
func start(ctx context.Context, rounds int) error {
	r, err := newRig(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	cases, err := r.cases(ctx)
	if err != nil {
		return err
	}
	before := loadAverage()
	times, err := timing.Measure(ctx, rounds, cases)
	if err != nil {
		return err
	}
	fmt.Printf("%s; %d rounds; ms\n", machine(ctx), rounds)
	fmt.Printf("load %s before, %s after: a busy machine slows all and hides what differs\n", before, loadAverage())
	return timing.Table(os.Stdout, times, bare)
}

// newRig builds, and makes a project with the dot files that are protected in
// every written folder, so that nothing has to be put in their place and every
// mount has a source that a bare bubblewrap can name. close removes it.
func newRig(ctx context.Context) (*rig, error) {
	w, err := workspace.Find(".")
	if err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, filepath.Join(w.Root, "scripts", "build")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("scripts/build: %w: %s", err, out)
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	r := &rig{dir: dir, bin: filepath.Join(w.Root, "bin"), project: filepath.Join(dir, "project")}
	// Settings of its own: nothing of the person's is read or written.
	r.env = append(os.Environ(), "LNK_HOME="+filepath.Join(dir, "settings"), "PATH="+r.bin+":"+os.Getenv("PATH"))
	for _, made := range []string{"project/.git", "project/.vscode", "project/.idea", "sockets"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, made), 0o700))
	}
	if err = errors.Join(err, os.WriteFile(filepath.Join(r.project, ".envrc"), nil, 0o600)); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *rig) close() { os.RemoveAll(r.dir) }

// cases are what is measured; those whose program is not here are left out, and
// it is said.
func (r *rig) cases(ctx context.Context) ([]timing.Case, error) {
	sockets := filepath.Join(r.dir, "sockets")
	closed, err := r.wrap(ctx, `"closed"`, nil)
	if err != nil {
		return nil, err
	}
	paths, err := r.paths()
	if err != nil {
		return nil, err
	}
	many, err := r.wrap(ctx, `"closed"`, paths)
	if err != nil {
		return nil, err
	}
	bareMany, err := r.bare(ctx, many.Argv)
	if err != nil {
		return nil, err
	}
	proxied, err := r.wrap(ctx, fmt.Sprintf(`{"proxied": {"proxy": {"upstream": "direct", "dir": %q, "hosts": ["host.example"]}, "ports": []}}`, sockets), nil)
	if err != nil {
		return nil, err
	}
	bareArgv, err := r.bare(ctx, closed.Argv)
	if err != nil {
		return nil, err
	}
	cases := []timing.Case{
		{Name: "true, no sandbox", Do: r.command([]string{"true"}, nil)},
		{Name: bare, Do: r.command(bareArgv, nil)},
		{Name: "closed, from wrap's JSON", Do: r.command(closed.Argv, closed.Env)},
		{Name: "proxied, from wrap's JSON", Do: r.command(proxied.Argv, proxied.Env)},
		{Name: fmt.Sprintf("bwrap, the same, %d named paths", len(paths)), Do: r.command(bareMany, nil)},
		{Name: fmt.Sprintf("closed, %d named paths", len(paths)), Do: r.command(many.Argv, many.Env)},
		{Name: "closed, by lnk sandbox run", Do: r.command([]string{filepath.Join(r.bin, "lnk"), "sandbox", "run", "--yes", "--write", r.project, "--", "true"}, nil)},
	}
	if srt, err := exec.LookPath("srt"); err == nil {
		cases = append(cases, timing.Case{Name: "srt", Do: r.command([]string{srt, "true"}, nil)})
	} else {
		fmt.Println("srt is not on PATH: not measured")
	}
	return cases, nil
}

// namedPaths is how many folders are named where many are.
const namedPaths = 60

// paths makes folders beside the project, to be read.
func (r *rig) paths() ([]string, error) {
	var paths []string
	for i := range namedPaths {
		path := filepath.Join(filepath.Dir(r.project), "named", fmt.Sprint(i))
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// wrap has lnk make the command that runs true in a network mode, with paths to
// read.
func (r *rig) wrap(ctx context.Context, net string, read []string) (wrapped, error) {
	named, err := json.Marshal(append([]string{}, read...))
	if err != nil {
		return wrapped{}, err
	}
	request := fmt.Sprintf(`{"confinement": {"name": "bench", "write": [%q], "read": %s, "commands": "any", "net": %s}, "argv": ["true"]}`, r.project, named, net)
	var w wrapped
	out, err := r.output(ctx, request, filepath.Join(r.bin, "lnk"), "sandbox", "wrap")
	if err == nil {
		err = json.Unmarshal(out, &w)
	}
	if err == nil && len(w.Argv) == 0 {
		err = errors.New("it made no command")
	}
	if err != nil {
		return w, fmt.Errorf("lnk sandbox wrap: %w", err)
	}
	return w, nil
}

// bare gives the bubblewrap command that the wall stage of a closed sandbox
// would become, without what a bare one has not: the wall is asked for it.
func (r *rig) bare(ctx context.Context, closed []string) ([]string, error) {
	at := slices.Index(closed, "wall")
	if at < 0 {
		return nil, fmt.Errorf("the command of a closed sandbox has no wall stage: %q", closed)
	}
	argv := slices.Insert(slices.Clone(closed), at+1, "--print-bwrap")
	out, err := r.output(ctx, "", argv...)
	if err != nil {
		return nil, err
	}
	var rendered []string
	if err := json.Unmarshal(out, &rendered); err != nil {
		return nil, fmt.Errorf("%s wall --print-bwrap: %w", argv[0], err)
	}
	return bareOf(rendered, argv[0], exists)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// output runs a command with a text on its input.
func (r *rig) output(ctx context.Context, input string, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.project, r.env, strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	return out, nil
}

// command gives what runs a command to its end.
func (r *rig) command(argv []string, env map[string]string) func(context.Context) error {
	all := slices.Clone(r.env)
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, one)
		defer cancel()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = r.project, all
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w: %s", err, said.Bytes())
		}
		return nil
	}
}
