package linuxwall

import (
	"os"
	"testing"
)

// work is what people do in a repository: it makes commits, merges, rebases and
// fetches, and says what became of it.
const work = `git config user.name >/dev/null || exit 1
echo 1 >one && git add one && git commit -qm one
git switch -qc feature && echo 2 >two && git add two && git commit -qm two
git switch -q - && echo 3 >three && git add three && git commit -qm three
git merge -q -m merged feature && git switch -qc again HEAD~1 && git rebase -q feature && git switch -q -
git fetch -q origin && git tag v1 && git gc -q
git log --format=%s | sort | tr '\n' ' '; git status --porcelain`

// evils are ways to have git run something outside, later, in a repository
// whose own folder is git, from its work tree.
func evils(git string) []string {
	return []string{
		"git config core.hooksPath /tmp", "git config core.fsmonitor ./x", "git config core.sshCommand ./x", "git config filter.x.smudge ./x",
		"git remote add evil /x", "echo x >>" + git + "/config", "ln -sf /etc/passwd " + git + "/config", "echo x >" + git + "/config.worktree",
		"echo ../../evil >" + git + "/commondir", "mkdir -p " + git + "/modules/evil", "mv " + git + "/info " + git + "/i", "rm -r " + git + "/info",
		"echo x >" + git + "/hooks/post-checkout", "mv " + git + "/hooks " + git + "/h", "echo x >.git", "rm .git", "mv .git g",
	}
}

// Work is done in a repository, a worktree and a submodule that are opened by
// their .git alone, and nothing is planted in any.
func TestRealGitWork(t *testing.T) {
	for _, kind := range []string{"without info", "worktree", "submodule"} {
		t.Run(kind, func(t *testing.T) {
			s := newStage(t)
			s.repository()
			s.git(s.work, "init", "-q", "--bare", s.home+"/origin")
			s.git(s.work, "push", "-q", s.home+"/origin", "HEAD:main")
			s.git(s.work, "remote", "add", "origin", s.home+"/origin")
			tree, git := s.work, s.work+"/.git"
			switch kind {
			case "without info":
				s.must(os.RemoveAll(git + "/info"))
			case "worktree":
				tree = s.home + "/side"
			case "submodule":
				s.git(s.work, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", s.home+"/origin", "lib")
				tree, git = s.work+"/lib", git+"/modules/lib"
				s.git(tree, "config", "user.name", "n")
				s.git(tree, "config", "user.email", "n@example")
			}
			c := s.confinement()
			c.Write, c.WriteDotFiles, c.Read = []string{tree}, []string{tree + "/.git"}, []string{s.home + "/origin"}
			s.work = tree
			before := s.git(tree, "config", "--list", "--show-origin")
			s.want(s.run(c, work), "first merged one three two")
			// Where info was not there it is the sandbox's own.
			s.run(c, "echo '* filter=x' >"+git+"/info/attributes")
			if _, err := os.Lstat(git + "/info/attributes"); err == nil {
				t.Error("attributes were planted")
			}
			s.want(s.run(c, tries(evils(git)...)), "")
			if after := s.git(tree, "config", "--list", "--show-origin"); after != before {
				t.Errorf("git is configured otherwise:\n%s", after)
			}
			if status := s.git(tree, "status", "--porcelain"); status != "" {
				t.Errorf("git status says %q", status)
			}
		})
	}
}

// A submodule's repository is opened only where it names the work tree in turn:
// its .git file may be anyone's.
func TestSubmoduleOpensItsRepository(t *testing.T) {
	const own = "/home/u/main/.git/modules/m"
	const tree = `
/home/u/main/.git/modules/m/HEAD
/home/u/main/.git/modules/m/objects/
/home/u/main/.git/modules/m/config: [core]
/home/u/main/.git/modules/m/config: 	worktree = ../../../../work
/home/u/work/.git: gitdir: ../main/.git/modules/m
`
	config := func(text string) *machine {
		m := made(debian + tree)
		m.texts[own+"/config"] = text
		return m
	}
	for _, c := range []struct {
		name  string
		on    *machine
		opens bool
	}{
		{"as git makes it", made(debian + tree), true},
		{"absolute", config("[core]\n\tbare = false\n\tworktree = /home/u/work\n"), true},
		{"in another section", config("[x]\n\tworktree = /home/u/work\n"), false},
		{"another names it", config("[core]\n\tworktree = /home/u/else\n"), false},
		{"the last one counts", config("[core]\n\tworktree = /home/u/work\n\tworktree = /home/u\n"), false},
		{"quoted", config("[core]\n\tworktree = \"/home/u/work\"\n"), false},
		{"none", config("[core]\n"), false},
		{"no repository", made(debian + tree).remove(own + "/HEAD"), false},
		{"by a link in the write folder", made(debian + "/home/u/work/l -> ../main\n" +
			tree[:len(tree)-len("../main/.git/modules/m\n")] + "l/.git/modules/m\n"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.on.mustPlan(t, working(func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} }))
			if got := verbAt(p, own) == Write; got != c.opens || verbAt(p, "/home/u/work/.git") != Read {
				t.Errorf("the repository is opened: %v, want %v\n%s", got, c.opens, p.Explain())
			}
			if c.opens && (verbAt(p, own+"/config") != Read || verbAt(p, own+"/hooks") != Close) {
				t.Errorf("its configuration is not kept\n%s", p.Explain())
			}
			if !c.opens && len(p.Notes) == 0 {
				t.Error("it is left closed without a word")
			}
		})
	}
}
