package linuxwall

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Repositories below a write folder are read, and nothing in them changed, moved
// away or replaced; what is beside them is written as ever.
func TestRealNestedRepositories(t *testing.T) {
	s := newStage(t)
	s.repository()
	s.mkdir("home/work/a b/sub")
	sub := s.work + "/a b/sub"
	s.git(sub, "init", "-q")
	s.git(sub, "commit", "-q", "--allow-empty", "-m", "inner")
	s.git(s.work, "worktree", "add", "-q", s.work+"/tree")
	s.git(s.work, "init", "-q", "--bare", s.work+"/bare")
	s.write("home/work/a b/sub/.envrc", "mine")
	git := "'a b/sub/.git'"
	s.want(s.run(s.confinement(), "cd 'a b/sub' && git log --format=%s && git status --porcelain && echo x >new && mkdir d && mv new d/ && cd ../..; "+tries(
		"echo x >"+git+"/hooks/pre-commit", "git -C 'a b/sub' config core.fsmonitor x", "echo x >>"+git+"/config", "rm -r "+git, "mv "+git+" 'a b/sub/g'",
		"mv 'a b/sub' 'a b/s'", "mv 'a b' c", "git -C 'a b/sub' commit -q --allow-empty -m x", "ln -s /tmp "+git+"/hooks2",
		"echo x >'a b/sub/.envrc'", "mv 'a b/sub/.envrc' e",
		"echo x >tree/.git", "rm tree/.git", "mv tree/.git t", "mv tree t",
		"echo x >bare/hooks/update", "echo x >>bare/config", "mv bare b",
	)), "inner\n?? .envrc")
}

// One that is opened, by its folder or by its .git alone, can be committed to.
func TestRealNestedOpened(t *testing.T) {
	for _, way := range []string{"", "/.git"} {
		s := newStage(t)
		s.repository()
		sub := s.mkdir("home/work/sub")
		s.git(sub, "init", "-q")
		s.git(sub, "config", "user.name", "n")
		s.git(sub, "config", "user.email", "n@example")
		c := s.confinement()
		c.Write, c.WriteDotFiles = append(c.Write, sub), []string{sub + way}
		script := "cd sub && git commit -q --allow-empty -m second && git log --format=%s; cd ..; " + tries("git commit -q --allow-empty -m x", "echo x >.git/hooks/pre-commit")
		if way != "" {
			script += "; " + tries("echo x >sub/.git/hooks/pre-commit", "git -C sub config core.fsmonitor x", "mv sub s")
		}
		s.want(s.run(c, script), "second")
	}
}

// Sockets that were bound by a relative path, moved or linked since cannot be
// connected to; what is left of one can be bound again.
func TestRealSocketsBelow(t *testing.T) {
	s := newStage(t)
	t.Chdir(s.work)
	dir := s.mkdir("home/work/d")
	for _, name := range []string{"relative", "moved", "linked", "left"} {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
		s.must(err)
		l.SetUnlinkOnClose(false)
		if name == "left" {
			l.Close()
		} else {
			defer l.Close()
		}
	}
	s.must(os.Rename("moved", dir+"/elsewhere"))
	s.must(os.Link("linked", dir+"/hard"))
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		t.Fatal(err)
	}
	s.write("home/work/ask.py", `import socket
for name in ("relative", "d/elsewhere", "linked", "d/hard"):
    try:
        socket.socket(socket.AF_UNIX).connect(name)
        print(name)
    except PermissionError:
        pass
    except OSError as e:
        if e.errno != 111: print(e)
import os
os.unlink("left")
socket.socket(socket.AF_UNIX).bind("left")
`)
	// With no wall all of them can be.
	out, err := exec.Command(python, "-c", "import socket\nfor n in ('relative', 'd/elsewhere', 'linked', 'd/hard'): socket.socket(socket.AF_UNIX).connect(n)").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := s.run(s.confinement(), strings.Join([]string{python, "ask.py"}, " ")); got.out != "" || got.code != 0 {
		t.Errorf("%+v", got)
	}
}
