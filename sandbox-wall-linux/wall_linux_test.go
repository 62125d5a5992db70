package linuxwall

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/stubs"
)

// A stage is a home of its own for one test of the real wall: the folders that
// a person would have, and a way to run programs behind the wall.
type stage struct {
	t    *testing.T
	top  string
	home string
	work string
	net  NetFrom
	env  []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	top, err := filepath.EvalSymlinks(outsideTmp(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, top: top, home: top + "/home", work: top + "/home/work", net: Own}
	for _, dir := range []string{s.home, s.work, s.home + "/.lnk"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.write("home/.lnk/secret", "settings")
	s.env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + s.home, "LC_ALL=C"}
	return s
}

// outsideTmp gives a temporary folder, where one can be made outside /tmp, of
// which a sandbox has its own: root's tests and a user's see both.
func outsideTmp(t *testing.T) string {
	dir, err := os.MkdirTemp("/srv", "linuxwall-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// write makes a file below the stage's top, with the folders above it.
func (s *stage) write(name, text string) string {
	s.t.Helper()
	at := filepath.Join(s.top, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return at
}

func (s *stage) mkdir(name string) string {
	s.t.Helper()
	at := filepath.Join(s.top, name)
	if err := os.MkdirAll(at, 0o755); err != nil {
		s.t.Fatal(err)
	}
	return at
}

func (s *stage) link(target, name string) string {
	s.t.Helper()
	at := filepath.Join(s.top, name)
	if err := os.Symlink(target, at); err != nil {
		s.t.Fatal(err)
	}
	return at
}

// confinement is one that writes the work folder.
func (s *stage) confinement() client.Confinement {
	return client.Confinement{
		Name: "test", Write: []string{s.work}, Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{}),
	}
}

// facts reads the facts with the stage's home, standing in the work folder.
func (s *stage) facts(c client.Confinement) Facts {
	s.t.Helper()
	s.t.Chdir(s.work)
	f, err := ReadFacts(LocalSystem(), c, s.net, Bubblewrap, s.env)
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

func (s *stage) plan(c client.Confinement, argv ...string) Plan {
	s.t.Helper()
	p, err := PlanFor(c, s.net, s.facts(c), argv)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// result is what a program did behind the wall.
type result struct {
	out, errs string
	code      int
}

// run runs a shell command behind the wall.
func (s *stage) run(c client.Confinement, script string) result {
	s.t.Helper()
	return s.start(s.plan(c, "/bin/sh", "-c", script))
}

// start carries a plan out.
func (s *stage) start(p Plan) result {
	s.t.Helper()
	undo := s.prepare(&p)
	defer undo()
	opened, err := Open(&p)
	if err != nil {
		s.t.Fatalf("open: %v", err)
	}
	defer opened.Close()
	return s.bwrap(p, opened)
}

// prepare does what the launcher does before bubblewrap: the folders and the
// placeholders that the plan wants.
func (s *stage) prepare(p *Plan) (undo func()) {
	s.t.Helper()
	for _, dir := range p.Make {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
	held := s.hold(p)
	return func() {
		s.t.Helper()
		report, err := held.Release()
		if err != nil {
			s.t.Fatal(err)
		}
		if len(report.Removed) != len(p.Placeholders) {
			s.t.Errorf("of %d placeholders: %+v", len(p.Placeholders), report)
		}
	}
}

// hold makes a plan's placeholders.
func (s *stage) hold(p *Plan) *stubs.Held {
	s.t.Helper()
	held, err := stubs.NewStore(s.home + "/.lnk/sandbox/stubs").Hold(p.Wants())
	if err != nil {
		s.t.Fatal(err)
	}
	if taken := held.Taken(); len(taken) > 0 {
		s.t.Fatalf("something has %q already", taken)
	}
	return held
}

func (s *stage) bwrap(p Plan, opened *Opened) result {
	s.t.Helper()
	args := append([]string{"--die-with-parent", "--new-session"}, p.BwrapArgs(3)...)
	cmd := exec.Command(p.Bwrap, append(append(args, "--"), p.Argv...)...)
	cmd.ExtraFiles = opened.Files()
	cmd.Env = s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return result{strings.TrimSpace(out.String()), strings.TrimSpace(errs.String()), cmd.ProcessState.ExitCode()}
}
