package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A value that the program could read by itself is no secret of its: said, and
// not promised. Closed, or out of view, it is one.
func TestSecretFileInView(t *testing.T) {
	s := newSandbox(t)
	here := s.put(".env", secretValue+"\n")
	outside := filepath.Join(s.home, "token")
	if err := os.WriteFile(outside, []byte(secretValue+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(s.home, "link")
	if err := os.Symlink(here, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		args []string
		out  bool
	}{
		{here, []string{"--write=" + s.project}, false},
		{here, []string{"--read=" + s.project}, false},
		{".env", []string{"--write=."}, false},
		{here, nil, true}, // a secret alone opens no folder
		{link, []string{"--write=" + s.project}, false},
		{outside, []string{"--read=" + s.home}, false},
		{outside, []string{"--read=" + outside}, false},
		{here, []string{"--write=" + s.project, "--hide=" + here}, true},
		{outside, []string{"--write=" + s.project}, true},
		{"~/token", nil, true},
	} {
		args := append(c.args, "--secret=api=api.test:x-key", "--secret-from=api=file:"+c.file, "--", "true")
		e := s.run(args...)
		if c.out && e.status != 0 || !c.out && (e.status != 125 || !strings.Contains(e.errors, "which the program could read: keep it elsewhere, or close it: --hide ")) {
			t.Errorf("%q: %d %s", args, e.status, e.errors)
		}
		hides(t, c.file, e.out, e.errors)
	}
	e := s.run("--write=.", "--model=openai", "--model-from=openai=file:"+here, "--", "true")
	if e.status != 125 || !strings.Contains(e.errors, "which the program could read") {
		t.Errorf("a model's key: %d %s", e.status, e.errors)
	}
}
