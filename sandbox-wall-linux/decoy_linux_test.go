package linuxwall

import (
	"os"
	"strings"
	"testing"
)

// Three empty files make a bare repository of a folder. That protects no less
// of what is in it, in the run that follows.
func TestRealThreeFiles(t *testing.T) {
	s := newStage(t)
	s.repository()
	sub := s.mkdir("home/work/sub")
	s.git(sub, "init", "-q")
	s.want(s.run(s.confinement(), "touch HEAD objects refs && echo done"), "done")
	s.want(s.run(s.confinement(), tries("echo x >>sub/.git/config", "echo x >sub/.git/hooks/pre-commit", "echo x >>.git/config", "mv sub s", "rm -r sub/.git")), "")
	if b, err := os.ReadFile(sub + "/.git/config"); err != nil || strings.Contains(string(b), "x\n") {
		t.Errorf("%q, %v", b, err)
	}
}
