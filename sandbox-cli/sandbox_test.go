package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// hangGuard ends a command that would never end by itself.
const hangGuard = 60 * time.Second

// A sandbox is one test's: a home, settings and a project of its own.
type sandbox struct {
	t       testing.TB
	root    string
	home    string
	project string
}

func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	root, err := os.MkdirTemp("", "lnk-t-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	s := &sandbox{t: t, root: root, home: filepath.Join(root, "home"), project: filepath.Join(root, "project")}
	for _, dir := range []string{s.home, s.project} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// env is the environment of who calls lnk: a whole one, of this sandbox's home.
func (s *sandbox) env(more ...string) []string {
	return append([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + s.home, "USER=tester", "LANG=C.UTF-8", "TERM=xterm",
	}, more...)
}

// put writes a file of the project and gives its path.
func (s *sandbox) put(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// ended is how a command ended.
type ended struct {
	status      int
	out, errors string
}

// command runs a whole command line in the project.
func (s *sandbox) command(stdin string, argv []string, env ...string) ended {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hangGuard)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = s.project
	cmd.Env = s.env(env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		s.t.Fatalf("%q did not end; it said %s", argv, errs.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return ended{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// run is `lnk sandbox run --yes <flags> -- argv`; flags and argv are parted by "--".
func (s *sandbox) run(args ...string) ended {
	s.t.Helper()
	return s.command("", append([]string{lnk(), "sandbox", "run", "--yes"}, args...))
}

// must is run where the program has to end well.
func (s *sandbox) must(args ...string) string {
	s.t.Helper()
	e := s.run(args...)
	if e.status != 0 {
		s.t.Fatalf("%q: status %d\n%s%s", args, e.status, e.out, e.errors)
	}
	return e.out
}

// wrapped asks wrap for a command and runs it with this environment and what
// wrap adds.
func (s *sandbox) wrapped(confinement map[string]any, argv ...string) ended {
	s.t.Helper()
	request, err := json.Marshal(map[string]any{"confinement": confinement, "argv": argv})
	if err != nil {
		s.t.Fatal(err)
	}
	made := s.command(string(request), []string{lnk(), "sandbox", "wrap"})
	if made.status != 0 {
		return made
	}
	var w struct {
		Argv []string
		Env  map[string]string
	}
	if err := json.Unmarshal([]byte(made.out), &w); err != nil {
		s.t.Fatalf("wrap printed %q: %v", made.out, err)
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(w.Env)) {
		env = append(env, name+"="+w.Env[name])
	}
	return s.command("", w.Argv, env...)
}

// confinement is a whole one: the project written, and net as given.
func (s *sandbox) confinement(net any) map[string]any {
	return map[string]any{
		"name": "case", "write": []string{s.project}, "read": []string{},
		"commands": "any", "net": net,
	}
}

// proxied is a net with these hosts.
func (s *sandbox) proxied(hosts ...string) map[string]any {
	if hosts == nil {
		hosts = []string{}
	}
	dir := filepath.Join(s.root, "way")
	os.Mkdir(dir, 0o700)
	return map[string]any{"proxied": map[string]any{
		"proxy": map[string]any{"upstream": "direct", "dir": dir, "hosts": hosts}, "ports": []int{},
	}}
}

// trusted puts the lab's authority into the project and gives its path.
func (s *sandbox) trusted() string { return s.put("ca.pem", string(labtest.CA(s.t))) }
