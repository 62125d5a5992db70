package launch

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// What bubblewrap is started with, and what it is told down a descriptor.
func TestRendering(t *testing.T) {
	s := Spec{
		Bwrap: "/usr/bin/bwrap", Argv: []string{"npm", "test"}, Stage: []string{"/run/lnk/lnk-sandbox", "inside"},
		Args: []string{"--unshare-user", "--proc", "/proc", "--ro-bind-fd", "3", "/usr", "--remount-ro", "/", "--chdir", "/w"},
		Env:  []string{"PATH=/bin", "A=1", "broken", "=x", "A=x=y z"},
	}
	var b strings.Builder
	for _, c := range []struct {
		what                   string
		terminal, sync, staged bool
		files                  int
	}{
		{"no terminal, one file", false, false, false, 1},
		{"no terminal, a file to keep open", false, true, false, 2},
		{"terminal", true, false, false, 1},
		{"terminal, with the stage inside", true, true, true, 1},
	} {
		s.Terminal = c.terminal
		argv, args, err := s.argv(numbersAfter(c.files, c.sync, false), c.staged)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(c.what + "\n  " + strings.Join(argv, " ") + "\n")
		for word := range strings.SplitSeq(strings.TrimSuffix(string(args), "\x00"), "\x00") {
			if strings.HasPrefix(word, "--") {
				b.WriteString("\n   ")
			}
			b.WriteString(" " + word)
		}
		b.WriteString("\n\n")
	}
	const file = "testdata/rendering.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCoverFirst(t *testing.T) {
	if got := coverFirst([]string{"--bind", "/a", "/b"}, false); got != nil {
		t.Errorf("without /proc: %v", got)
	}
	if got := coverFirst([]string{"--proc", "/p"}, false); !strings.Contains(strings.Join(got, " "), "--tmpfs /p/1 --remount-ro /p/1") {
		t.Errorf("%v", got)
	}
}

func TestErrorSays(t *testing.T) {
	cause := errors.New("why")
	err := error(setupError("what", cause))
	if err.Error() != "what: why" || !errors.Is(err, cause) {
		t.Error(err)
	}
	if got := setupError("what", nil).Error(); got != "what" {
		t.Error(got)
	}
}
