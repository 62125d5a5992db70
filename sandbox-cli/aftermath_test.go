package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git runs git outside, as the person does.
func (s *sandbox) git(dir string, args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=n@example"}, args...)...)
	cmd.Env = s.env("GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// told gives what run says at the end of each path below the project, as
// "path was …".
func (s *sandbox) told(e ended) []string {
	var told []string
	project, _ := filepath.EvalSymlinks(s.project)
	for line := range strings.Lines(e.errors) {
		if rest, ok := strings.CutPrefix(line, "lnk sandbox run: "+project+"/"); ok {
			what, _, _ := strings.Cut(rest, " while the sandbox ran, and tools outside act on it")
			told = append(told, strings.TrimSpace(what))
		}
	}
	return told
}

// What a program made or changed of what tools outside act on is told at its
// end, a line each, and nothing else is.
func TestToldAtTheEnd(t *testing.T) {
	s := newSandbox(t)
	s.put(".husky/pre-commit", "old\n")
	s.put(".github/workflows/ci.yml", "old\n")
	s.put("a/.cargo/config.toml", "old\n")
	s.put(".claude/skills/one/scripts/run.sh", "old\n")
	s.git(s.project, "init", "-q")
	s.git(s.project, "init", "-q", "sub")
	s.put("cache/.git", "") // which is no repository
	for _, c := range []struct {
		script string
		want   []string
	}{
		{"echo x >plain; mkdir -p src; echo x >src/Makefile; cat .husky/pre-commit", nil},
		{"echo new >.husky/pre-commit", []string{".husky/pre-commit was changed"}},
		{"echo new >.claude/skills/one/scripts/run.sh; echo x >.claude/skills/one/scripts/more", []string{".claude/skills/one/scripts/more was made", ".claude/skills/one/scripts/run.sh was changed"}},
		{"touch -d @1 .husky/pre-commit", []string{".husky/pre-commit was changed"}},
		{"echo x >.husky/post-merge; rm -r .github; mkdir .devcontainer; echo x >.devcontainer/x", []string{".devcontainer was made", ".github/workflows was removed", ".husky/post-merge was made"}},
		{"rm -r .devcontainer; mv a b", []string{".devcontainer was removed", "a/.cargo/config.toml was removed", "b/.cargo/config.toml was made"}},
		{"git init -q deep/new; git init -q --bare bare; mkdir -p x/.claude; echo x >x/.claude/settings.json; echo x >x/.mcp.json",
			[]string{"bare/HEAD was made", "bare/config was made", "bare/hooks was made", "deep/new/.git was made", "x/.claude was made", "x/.mcp.json was made"}},
		{": >>cache/.git", nil},
		{"echo 'gitdir: ../x' >cache/.git", []string{"cache/.git was changed"}},
		{"touch HEAD objects refs", []string{"HEAD was made"}},
		{"rm HEAD objects refs", []string{"HEAD was removed"}},
		{"for i in $(seq 25); do mkdir -p m/$i; echo x >m/$i/.envrc; done; echo x >sub/.git/config", nil},
		{"true", nil},
	} {
		e := s.run("--write="+s.project, "--", "sh", "-c", c.script)
		told := s.told(e)
		if strings.Contains(c.script, "seq") {
			if len(told) != 20 || !strings.Contains(e.errors, "lnk sandbox run: 5 more of the kind: all of it is in ") {
				t.Errorf("%s: %s", c.script, e.errors)
			}
			continue
		}
		if fmt.Sprint(told) != fmt.Sprint(c.want) || e.status != 0 {
			t.Errorf("%s: status %d, told %q, want %q\n%s", c.script, e.status, told, c.want, e.errors)
		}
	}
	// What the person opened is told as well: it may be written, and runs.
	e := s.run("--write="+s.project, "--write-dot-files="+s.project, "--", "sh", "-c", "echo x >.git/hooks/pre-commit; git config core.fsmonitor x; echo x >.git/description")
	if got := fmt.Sprint(s.told(e)); got != "[.git/config was changed .git/hooks/pre-commit was made]" {
		t.Errorf("opened: %s\n%s", got, e.errors)
	}
}

// Whatever else a program makes, a repository is told of first, and the whole
// list is in the sandbox's log.
func TestDecoysHideNothing(t *testing.T) {
	s := newSandbox(t)
	e := s.run("--write="+s.project, "--", "sh", "-c", `for i in $(seq 30); do mkdir "a$i"; echo x >"a$i/.npmrc"; done
		mkdir x; touch x/HEAD x/objects x/refs; git init -q x/evil; git init -q zz; printf 'x' >"$(printf 'q\nr')"; mkdir "$(printf 'd\nd')"; touch "$(printf 'd\nd')/.npmrc"`)
	told := s.told(e)
	for i, want := range []string{"x/HEAD was made", "x/evil/.git was made", "zz/.git was made"} {
		if len(told) <= i || told[i] != want {
			t.Fatalf("told %q\n%s", told, e.errors)
		}
	}
	if len(told) != 23 || !strings.Contains(e.errors, "lnk sandbox run: 11 more of the kind: all of it is in ") {
		t.Errorf("told %d: %s", len(told), e.errors)
	}
	log := s.command("", []string{lnk(), "sandbox", "log", "-n", "0"}).out
	for _, want := range []string{"/a30/.npmrc was made\n", "/a1/.npmrc was made\n", "/zz/.git was made\n", `/d\x0ad/.npmrc was made`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if n := strings.Count(log, " changed  "); n != 34 {
		t.Errorf("%d lines of changes:\n%s", n, log)
	}
}

// A repository below the project is read and not changed, and the person's git
// works on it meanwhile, in silence.
func TestRepositoriesBelow(t *testing.T) {
	s := newSandbox(t)
	s.git(s.project, "init", "-q", "sub")
	s.git(filepath.Join(s.project, "sub"), "commit", "-q", "--allow-empty", "-m", "first")
	cmd, errs := s.start(lnk(), "sandbox", "run", "--yes", "--write="+s.project, "--", "sh", "-c",
		"echo up; while [ ! -e go ]; do sleep 0.02; done; git -C sub log --format=%s >log; echo x >sub/.git/hooks/pre-commit || echo x >>sub/.git/config || git -C sub commit -q --allow-empty -m x || mv sub s || exit 7")
	s.git(filepath.Join(s.project, "sub"), "commit", "-q", "--allow-empty", "-m", "meanwhile")
	s.git(filepath.Join(s.project, "sub"), "config", "a.b", "c")
	s.put("go", "")
	if status := waitFor(t, cmd); status != 7 {
		t.Errorf("status %d: %s", status, errs.String())
	}
	if b, _ := os.ReadFile(filepath.Join(s.project, "log")); string(b) != "meanwhile\nfirst\n" {
		t.Errorf("the log says %q", b)
	}
	if strings.Contains(errs.String(), "lnk sandbox run: ") {
		t.Errorf("said: %s", errs.String())
	}
}
