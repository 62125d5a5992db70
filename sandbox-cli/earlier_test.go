package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A link that one run left is not followed by the next that names a path by it,
// though that does not write where it lies; a link of the person's own is.
func TestLinkOfAnEarlierRun(t *testing.T) {
	s := newSandbox(t)
	secret := filepath.Join(s.root, "secret")
	other := filepath.Join(s.root, "other")
	for _, dir := range []string{secret, other} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(secret+"/key", []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(name string) string { return filepath.Join(s.project, name) }
	s.must("--write="+other, "--", "true") // which wrote elsewhere
	if err := os.Symlink(secret, filepath.Join(s.root, "mine")); err != nil {
		t.Fatal(err)
	}
	if got := s.must("--write="+other, "--read="+filepath.Join(s.root, "mine"), "--", "cat", filepath.Join(s.root, "mine", "key")); got != "private" {
		t.Errorf("a link of the person's own: %q", got)
	}
	s.must("--write="+s.project, "--", "sh", "-c", "ln -s "+secret+" out; mkdir d; ln -s ../../secret d/relative")
	for _, args := range [][]string{
		{"--write=" + other, "--read=" + link("out")},
		{"--write=" + other, "--read=" + link("out/key")},
		{"--write=" + link("out")},
		{"--write=" + other, "--read=" + link("d/relative/key")},
		{"--write=" + other, "--hide=" + link("out")},
	} {
		e := s.run(append(args, "--", "cat", secret+"/key")...)
		if e.status != 125 || strings.Contains(e.out, "private") || !strings.Contains(e.errors, "an earlier sandbox could have put there") || !strings.Contains(e.errors, "/secret") {
			t.Errorf("%q: status %d, %q: %s", args, e.status, e.out, e.errors)
		}
	}
	if got := s.must("--write="+other, "--read="+secret, "--", "cat", secret+"/key"); got != "private" {
		t.Errorf("the target named: %q", got)
	}
}
