package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Wrap gives the command that runs argv confined, and what to add to the
// environment it runs with. It asks lnk sandbox wrap, and first installs the
// sandbox plugin if that is missing (lnk plugin install sandbox). It starts
// nothing that stays.
//
// A confinement that is refused is [ErrRequest]; a command that could not do
// it is a [*CommandError] with its own words.
func Wrap(ctx context.Context, c Confinement, argv []string) (Wrapped, error) {
	return wrap(ctx, WrapRequest{Confinement: &c, Argv: argv})
}

// WrapUnwalled is [Wrap] of a program that runs with no wall.
func WrapUnwalled(ctx context.Context, u Unwalled, argv []string) (Wrapped, error) {
	return wrap(ctx, WrapRequest{Unwalled: &u, Argv: argv})
}

func wrap(ctx context.Context, req WrapRequest) (Wrapped, error) {
	var in bytes.Buffer
	if err := WriteWrapRequest(&in, req); err != nil {
		return Wrapped{}, err
	}
	lnk, err := exec.LookPath("lnk")
	if err != nil {
		return Wrapped{}, fmt.Errorf("lnk sandbox wrap: %w: install lnk", err)
	}
	if lnk, err = filepath.Abs(lnk); err != nil {
		return Wrapped{}, fmt.Errorf("lnk sandbox wrap: %w", err)
	}
	if !pluginThere(lnk) {
		if _, err := command(ctx, nil, lnk, "plugin", "install", "sandbox"); err != nil {
			return Wrapped{}, err
		}
	}
	out, err := command(ctx, in.Bytes(), lnk, "sandbox", "wrap")
	if err != nil {
		return Wrapped{}, err
	}
	wrapped, err := ReadWrapped(bytes.NewReader(out))
	if err != nil {
		return Wrapped{}, &CommandError{Command: "lnk sandbox wrap", Line: "its answer is not one: " + err.Error(), err: errNoAnswer}
	}
	return wrapped, nil
}

// errNoAnswer is a wrap's answer that cannot be read. What it is refused for
// is no refusal of the request.
var errNoAnswer = errors.New("not an answer")

// pluginThere says whether lnk finds the plugin: in its own folder, or on PATH.
func pluginThere(lnk string) bool {
	places := []string{lnk}
	if real, err := filepath.EvalSymlinks(lnk); err == nil {
		places = append(places, real)
	}
	for _, at := range places {
		if info, err := os.Stat(filepath.Join(filepath.Dir(at), "lnk-sandbox")); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	_, err := exec.LookPath("lnk-sandbox")
	return err == nil
}

// CommandError is a command of lnk's that failed.
type CommandError struct {
	// Command is what was run: "lnk sandbox wrap".
	Command string
	// Status is its exit status, -1 when it did not exit by itself. 2 is a
	// refusal of what it was given, and wraps [ErrRequest].
	Status int
	// Line is the line that it printed on its standard error, or what else is known.
	Line string

	err error
}

// Error gives the command's own line, which names the command.
func (e *CommandError) Error() string {
	if strings.HasPrefix(e.Line, e.Command+":") {
		return e.Line
	}
	if e.Line == "" {
		return fmt.Sprintf("%s: %v", e.Command, e.err)
	}
	return e.Command + ": " + e.Line
}

// Unwrap gives what the system said, and [ErrRequest] for status 2.
func (e *CommandError) Unwrap() []error {
	if e.Status == 2 {
		return []error{e.err, ErrRequest}
	}
	return []error{e.err}
}

const (
	// errorMax is how much of a command's standard error is kept, its end.
	errorMax = 8 << 10
	// endWait is how long a command that was told to end may keep its pipes open.
	endWait = 2 * time.Second
)

// command runs one of lnk's and gives what it printed. What it needs besides
// its input is this process's environment.
func command(ctx context.Context, in []byte, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = bytes.NewReader(in)
	out, said := &head{max: form.MaxBytes + 1}, &tail{max: errorMax}
	cmd.Stdout, cmd.Stderr = out, said
	cmd.WaitDelay = endWait
	err := cmd.Run()
	if err == nil {
		return out.b, nil
	}
	status := -1
	if cmd.ProcessState != nil {
		status = cmd.ProcessState.ExitCode()
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	name := strings.Join(append([]string{filepath.Base(argv[0])}, argv[1:]...), " ")
	return nil, &CommandError{Command: name, Status: status, Line: said.line(), err: err}
}

// head keeps the start of what is written to it.
type head struct {
	b   []byte
	max int
}

func (h *head) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), h.max-len(h.b))]...)
	return len(p), nil
}

// tail keeps the end of what is written to it.
type tail struct {
	b   []byte
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - t.max; over > 0 {
		t.b = append([]byte{}, t.b[over:]...)
	}
	return len(p), nil
}

// line gives the last line with something on it, fit to be part of an error.
func (t *tail) line() string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.b), "")), "\n")
	return form.OneLine(strings.TrimSpace(lines[len(lines)-1]))
}
