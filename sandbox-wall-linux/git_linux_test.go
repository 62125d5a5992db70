package linuxwall

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// git runs git on this machine, as the person does.
func (s *stage) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(s.env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+s.top+"/gitconfig")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes one in the work folder, with a worktree beside it.
func (s *stage) repository() {
	s.t.Helper()
	s.write("gitconfig", "[user]\n\tname = n\n\temail = n@example\n[init]\n\tdefaultBranch = main\n")
	s.git(s.work, "init", "-q")
	s.git(s.work, "config", "user.name", "n")
	s.git(s.work, "config", "user.email", "n@example")
	s.git(s.work, "commit", "-q", "--allow-empty", "-m", "first")
	s.git(s.work, "worktree", "add", "-q", s.home+"/side")
}

const commits = "echo 1 >f && git add f && git commit -qm second && git branch other && git log --format=%s | head -1"

// plants are ways to have git run something outside, later.
func plants(git string) []string {
	return []string{
		"echo x >" + git + "/hooks/pre-commit", "mv " + git + "/hooks " + git + "/h", "rm -r " + git + "/hooks",
		"git config core.fsmonitor x", "git config --worktree core.fsmonitor x", "echo x >>" + git + "/config", "mv " + git + "/config " + git + "/c",
		"echo x >" + git + "/config.worktree", "mkdir " + git + "/x && mv " + git + "/x " + git + "/config.worktree2 && mv -T " + git + "/config.worktree2 " + git + "/config.worktree",
		"echo ../../evil >" + git + "/commondir", "rm " + git + "/commondir", "mv " + git + "/commondir " + git + "/c",
		"mkdir -p " + git + "/modules/evil", "echo x >" + git + "/worktrees/side/commondir", "echo x >" + git + "/worktrees/side/gitdir",
		"echo x >" + git + "/worktrees/side/config.worktree", "mv " + git + "/worktrees " + git + "/w", "mv " + git + "/worktrees/side " + git + "/worktrees/s",
		"rm -rf " + git + "/hooks " + git + "/config",
	}
}

// A repository that is opened by itself can be committed to, and what git runs
// outside stays as it is, what is missing included.
func TestRealGitOpened(t *testing.T) {
	s := newStage(t)
	s.repository()
	git := s.work + "/.git"
	before := s.git(s.work, "config", "--list", "--show-origin")
	c := s.confinement()
	c.WriteDotFiles = []string{git}
	s.want(s.run(c, commits+"; "+tries(append(plants(git), "mv .git g")...)), "second")
	for _, name := range []string{"commondir", "config.worktree", "modules", "hooks/pre-commit"} {
		if _, err := os.Lstat(git + "/" + name); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
	if after := s.git(s.work, "config", "--list", "--show-origin"); after != before {
		t.Errorf("git is configured otherwise:\n%s", after)
	}
	if status := s.git(s.work, "status", "--porcelain"); status != "" {
		t.Errorf("git status says %q", status)
	}
	if got := s.git(s.home+"/side", "log", "--format=%s"); got != "first" {
		t.Errorf("the worktree says %q", got)
	}
}

// While a sandbox runs, git outside sees nothing of what stands in for what is
// missing, a repository that reads config.worktree included.
func TestRealGitOutsideMeanwhile(t *testing.T) {
	s := newStage(t)
	s.repository()
	s.git(s.work, "config", "extensions.worktreeConfig", "true")
	c := s.confinement()
	c.WriteDotFiles = []string{s.work + "/.git"}
	p := s.plan(c, "true")
	undo := s.prepare(&p)
	defer undo()
	for _, dir := range []string{s.work, s.home + "/side"} {
		if status := s.git(dir, "status", "--porcelain"); status != "" {
			t.Errorf("%s: git status says %q", dir, status)
		}
		s.git(dir, "commit", "-q", "--allow-empty", "-m", "meanwhile")
		s.git(dir, "gc", "-q")
		s.git(dir, "fsck")
	}
	s.git(s.work, "worktree", "list")
	if got := s.git(s.work, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel"); got != s.work+"/.git\n"+s.work {
		t.Errorf("git takes it for %q", got)
	}
}

// With no wall a planted commondir has git run what it likes, so that the test
// of it sees.
func TestRealGitPlantedCommondir(t *testing.T) {
	s := newStage(t)
	s.repository()
	evil := s.home + "/evil"
	s.must(exec.Command("cp", "-r", s.work+"/.git", evil).Run())
	s.must(exec.Command("git", "config", "--file", evil+"/config", "core.fsmonitor", "touch "+s.top+"/ran; false").Run())
	s.write("home/work/.git/commondir", evil+"\n")
	s.git(s.work, "status")
	if _, err := os.Lstat(s.top + "/ran"); err != nil {
		t.Fatal("git no longer follows a commondir in any repository: what protects it can go")
	}
}

func TestRealGitWorktree(t *testing.T) {
	for _, way := range []string{"its dot file", "the repository named"} {
		t.Run(way, func(t *testing.T) {
			s := newStage(t)
			s.repository()
			c := s.confinement()
			main := s.work + "/.git"
			s.work = s.home + "/side"
			c.Write = []string{s.work}
			if way == "its dot file" {
				c.WriteDotFiles = []string{s.work + "/.git"}
			} else {
				c.Write = append(c.Write, main)
			}
			s.want(s.run(c, commits+"; "+tries(append(plants(main), "echo x >.git", "mv .git g", "rm .git")...)), "second")
			if got := s.git(s.work, "log", "--format=%s"); got != "second\nfirst" {
				t.Errorf("the log says %q", got)
			}
		})
	}
}

// Without a word about it a repository can be read, and nothing in it changed.
func TestRealGitClosed(t *testing.T) {
	s := newStage(t)
	s.repository()
	s.want(s.run(s.confinement(), "git log --format=%s; git status --porcelain; "+tries(append(plants(s.work+"/.git"),
		"git commit -q --allow-empty -m x", "git init -q", "rm -r .git", "mv .git g", "git branch x")...)), "first")
}
