package linuxwall

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What is replaced outside loses its cover inside, and that shows.
func TestRealGone(t *testing.T) {
	s := newStage(t)
	s.write("home/work/.envrc", "mine")
	s.write("home/work/a/secret", "hidden")
	c := s.confinement()
	c.Hide = []string{s.work + "/a/secret"}
	p := s.plan(c, "/bin/sh", "-c", "while echo; read what; do eval \"$what\"; done 2>/dev/null")
	defer s.prepare(&p)()
	opened, err := Open(&p)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	cmd := exec.Command(p.Bwrap, append(append(append([]string{"--die-with-parent"}, p.BwrapArgs(3)...), "--"), p.Argv...)...)
	cmd.ExtraFiles, cmd.Env = opened.Files(), s.env
	in, err := cmd.StdinPipe()
	s.must(err)
	out, err := cmd.StdoutPipe()
	s.must(err)
	s.must(cmd.Start())
	defer cmd.Wait()
	defer in.Close()
	said := bufio.NewScanner(out)
	ask := func(what string) string {
		t.Helper()
		if what != "" {
			if _, err := in.Write([]byte(what + "\n")); err != nil {
				t.Fatal(err)
			}
		}
		var lines []string
		for said.Scan() && said.Text() != "" {
			lines = append(lines, said.Text())
		}
		return strings.Join(lines, "\n")
	}
	ask("")
	table := func() string {
		t.Helper()
		children, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/task/" + strconv.Itoa(cmd.Process.Pid) + "/children")
		s.must(err)
		b, err := os.ReadFile("/proc/" + strings.TrimSpace(string(children)) + "/mountinfo")
		s.must(err)
		return string(b)
	}
	covers, missing := p.Covers(table())
	if len(missing) > 0 || len(covers.Gone(table())) > 0 || len(covers.order) < 6 {
		t.Fatalf("gone from the start: %q, of %+v", missing, covers)
	}
	const tries = "echo x >.envrc && echo wrote; cat a/secret"
	if got := ask(tries); got != "" {
		t.Fatalf("before anything is replaced: %q", got)
	}
	// A rename outside takes the cover along.
	s.must(os.Rename(s.work+"/a", s.work+"/b"))
	if got := covers.Gone(table()); len(got) > 0 {
		t.Errorf("renamed, gone are %q", got)
	}
	if got := ask("cat b/secret"); got != "" {
		t.Errorf("what was renamed is read: %q", got)
	}
	s.must(os.Rename(s.work+"/b", s.work+"/a"))
	s.write("home/work/.envrc~", "mine, edited")
	s.must(os.Rename(s.work+"/.envrc~", s.work+"/.envrc"))
	if got, want := covers.Gone(table()), []string{s.work + "/.envrc"}; !slices.Equal(got, want) {
		t.Errorf("gone are %q, want %q", got, want)
	}
	// This is what is lost, should the kernel ever keep such a mount.
	if got := ask(tries); got != "wrote" {
		t.Errorf("after it was replaced: %q", got)
	}
}
