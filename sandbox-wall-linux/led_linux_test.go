package linuxwall

import (
	"os"
	"strings"
	"testing"
)

// What the configuration of a kept repository names in the write folder is kept
// with it, and what it names that is not there cannot be made.
func TestRealLedByConfiguration(t *testing.T) {
	s := newStage(t)
	s.repository()
	for name, value := range map[string]string{
		"core.hooksPath": ".githooks", "include.path": "../.gitshared", "core.attributesFile": "conf/attributes", "filter.f.clean": "sh tools/clean.sh %f",
		"alias.x": "!./run 'a b'", "core.fsmonitor": "./monitor --x", "core.pager": "less", "credential.helper": "!tools/secret get", "diff.d.textconv": "./later/text",
		"includeIf.gitdir:" + s.work + "/.path": s.work + "/more/config",
	} {
		s.git(s.work, "config", name, value)
	}
	s.write("home/work/.githooks/pre-commit", "#!/bin/sh\n")
	s.write("home/work/.gitshared", "[include]\n\tpath = conf/deeper\n[core]\n\teditor = 'ed it' -x\n")
	s.write("home/work/conf/deeper", "[GPG]\n\tprogram = \"tools/\\\ng\"\n")
	for _, name := range []string{"tools/clean.sh", "tools/g", "run", "ed it"} {
		s.write("home/work/"+name, "")
	}
	s.mkdir("home/work/more")
	s.want(s.run(s.confinement(), "echo x >free && mkdir d && echo x >tools/free && echo x >conf/free; "+tries(
		"echo x >.githooks/pre-push", "echo x >.githooks/pre-commit", "mv .githooks h", "rm -r .githooks",
		"echo x >.gitshared", "rm .gitshared", "mv .gitshared g", "echo x >conf/deeper", "mv conf c", "echo x >conf/attributes", "rm conf/attributes",
		"echo x >tools/clean.sh", "mv tools t", "rm tools/clean.sh", "echo x >tools/g", "echo x >tools/secret", "echo x >run", "rm run", "echo x >'ed it'",
		"echo x >monitor", "ln -s /bin/sh monitor", "mkdir -p later/text", "echo x >later", "echo x >more/config",
	)), "")
	for _, name := range []string{"monitor", "later", "tools/secret", "more/config", "conf/attributes"} {
		if _, err := os.Lstat(s.work + "/" + name); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
	c := s.confinement()
	c.WriteDotFiles = []string{s.work}
	s.want(s.run(c, tries("echo x >.githooks/pre-push", "echo x >.gitshared")), "did echo x >.githooks/pre-push\ndid echo x >.gitshared")
}

// The folder of a submodule that is not checked out stays empty: git at the
// top would start git in it by what is there.
func TestRealSubmoduleNotCheckedOut(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		s := newStage(t)
		s.repository()
		s.git(s.work, "config", "index.version", version)
		s.mkdir("home/work/lib")
		s.write("home/work/deep/file", "x")
		commit := s.git(s.work, "rev-parse", "HEAD")
		for _, at := range []string{"lib", "deep/er/lib", "gone"} {
			s.git(s.work, "update-index", "--add", "--cacheinfo", "160000,"+commit+","+at)
		}
		s.mkdir("home/work/deep/er/lib")
		plant := func(at string) string {
			return "mkdir -p " + at + " && git init -q " + at + " && git -C " + at + " config core.fsmonitor 'touch " + s.work + "/ran; false'"
		}
		s.want(s.run(s.confinement(), "echo x >deep/file; "+tries(plant("lib"), plant("deep/er/lib"), plant("gone"), "mv lib l", "rmdir lib", "mv deep d", "rmdir deep/er/lib", "ln -s deep gone")), "")
		s.git(s.work, "status")
		if _, err := os.Lstat(s.work + "/ran"); err == nil {
			t.Errorf("version %s: git ran what was planted", version)
		}
		if _, err := os.Lstat(s.work + "/gone"); err == nil {
			t.Error("a placeholder was left behind")
		}
	}
}

// A write folder in the work tree of a repository above it is led to as well.
func TestRealLedFromAbove(t *testing.T) {
	s := newStage(t)
	s.repository()
	s.git(s.work, "config", "core.hooksPath", "src/hooks")
	s.git(s.work, "update-index", "--add", "--cacheinfo", "160000,"+s.git(s.work, "rev-parse", "HEAD")+",src/lib")
	s.mkdir("home/work/src/hooks")
	s.mkdir("home/work/src/lib")
	c := s.confinement()
	c.Write = []string{s.work + "/src"}
	s.work += "/src"
	tried := tries("echo x >hooks/pre-commit", "mv hooks h", "git init -q lib", "mv lib l")
	s.want(s.run(c, "echo x >free; "+tried), "")
	c.WriteDotFiles = c.Write
	c.Write = append(c.Write, s.mkdir("home/work/other"))
	s.want(s.run(c, tries("echo x >hooks/pre-commit")), "did echo x >hooks/pre-commit")
}

// With no wall git runs what is planted in a submodule that is not checked out,
// also where it is told to trust no repository, so that the test of it sees.
func TestRealGitFollowsGitlinks(t *testing.T) {
	s := newStage(t)
	s.repository()
	sub := s.mkdir("home/work/lib")
	s.git(s.work, "update-index", "--add", "--cacheinfo", "160000,"+s.git(s.work, "rev-parse", "HEAD")+",lib")
	s.git(sub, "init", "-q")
	s.git(sub, "config", "core.fsmonitor", "touch "+s.top+"/ran; false")
	s.env = append(s.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0="+s.work)
	s.git(s.work, "status")
	if _, err := os.Lstat(s.top + "/ran"); err != nil {
		t.Fatal("git no longer starts git in a submodule by what is there: what keeps it can go")
	}
}

// What cannot be kept is said.
func TestRealLedAstray(t *testing.T) {
	s := newStage(t)
	s.repository()
	s.write("home/work/real/x", "")
	s.link("real", "home/work/link")
	s.git(s.work, "config", "core.hooksPath", "link")
	s.git(s.work, "config", "init.templateDir", ".")
	p := s.plan(s.confinement(), "true")
	said := strings.Join(p.Warnings, "\n")
	for _, want := range []string{"core.hookspath of " + s.work + "/.git leads git by the link " + s.work + "/link", "init.templatedir of " + s.work + "/.git names the write folder"} {
		if !strings.Contains(said, want) {
			t.Errorf("warnings lack %q:\n%s", want, said)
		}
	}
}
