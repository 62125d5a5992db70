package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// An asker of the tests says what it was told to, and keeps what it was asked.
type asker struct {
	asked  chan Question
	answer func(ctx context.Context) error
}

func (a *asker) Ask(ctx context.Context, q Question, _ func(string)) error {
	a.asked <- q
	return a.answer(ctx)
}

func TestJudge(t *testing.T) {
	dir := t.TempDir()
	no := errors.New("no")
	a := &asker{asked: make(chan Question, 64), answer: func(context.Context) error { return no }}
	h, err := New(Config{Sandbox: "web", Write: []string{dir}, Ask: a})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	gh := route.Tool{Argv: []string{"/bin/gh", "--fixed"}, Ask: route.AskAll, Allow: [][]string{{"pr", "list", "*"}}}
	judge := func(t route.Tool, words ...string) error {
		j, err := h.judge(context.Background(), "gh", t, words, "", func(string) {})
		if err == nil {
			j.close()
		}
		return err
	}
	if err := judge(gh, "pr", "list", "--all"); err != nil || len(a.asked) != 0 {
		t.Error("an allowed call was asked about:", err)
	}
	if err := judge(gh, "pr", "merge"); err == nil {
		t.Error("a call that was refused is made")
	}
	q := <-a.asked
	if q.Shown() != "/bin/gh --fixed pr merge" || q.Sandbox != "web" || q.Name != "gh" || q.Folder != real(t, dir) {
		t.Errorf("%+v", q)
	}
	if err := judge(route.Tool{Argv: []string{"/bin/gh"}, Ask: route.AskNone}, "x"); err != nil || len(a.asked) != 0 {
		t.Error("a tool that never asks asked:", err)
	}
	// Nothing that a person cannot read is put to one.
	if err := judge(gh, strings.Repeat("a", maxShown)); err == nil || len(a.asked) != 0 {
		t.Error("an unreadable call was asked about")
	}
	a.answer = func(context.Context) error { return nil }
	if err := judge(gh, "pr", "merge"); err != nil {
		t.Error(err)
	}
	h.config.Ask = nil
	if err := judge(gh, "pr", "merge"); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Error("with nobody to ask:", err)
	}
	if err := judge(gh, "a\x00"); err == nil {
		t.Error("a NUL in a word")
	}
}

func real(t *testing.T, dir string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// No more calls wait for an answer than a person would read.
func TestAskedAtOnce(t *testing.T) {
	release := make(chan struct{})
	a := &asker{asked: make(chan Question, 64), answer: func(context.Context) error { <-release; return nil }}
	h, err := New(Config{Sandbox: "web", Ask: a})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ended := make(chan error, maxAsked+1)
	for range maxAsked + 1 {
		go func() {
			ended <- h.ask(context.Background(), Question{Argv: []string{"x"}}, func(string) {})
		}()
	}
	if err := <-ended; err == nil {
		t.Error("one more than may wait was let in")
	}
	close(release)
	for range maxAsked {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestFolders(t *testing.T) {
	root := real(t, t.TempDir())
	for _, dir := range []string{"w/a/b", "w/hidden/open/x", "r/s", "other"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(root, "w/file"), nil, 0o644)
	os.Symlink(filepath.Join(root, "other"), filepath.Join(root, "w/link"))
	os.Symlink("../other", filepath.Join(root, "w/up"))
	os.Symlink(filepath.Join(root, "w"), filepath.Join(root, "alias"))
	at := func(p string) string { return filepath.Join(root, p) }
	fs := openFolders([]string{at("w/file"), at("alias"), at("w/hidden/open")}, []string{at("r"), at("missing")}, []string{at("w/hidden")})
	defer fs.close()
	for dir, want := range map[string]string{
		"w": "w", "w/a/b": "w/a/b", "w/a/../a": "w/a", "r/s": "r/s", "w/hidden/open/x": "w/hidden/open/x",
		"w/hidden": "w", "w/hidden/x": "w", "other": "w", "w/link": "w", "w/up": "w", "w/missing": "w", "w/file": "w", "w/a/../../other": "w", "": "w",
	} {
		if dir != "" {
			dir = root + "/" + dir
		}
		f := fs.choose(dir)
		if f.path != at(want) {
			t.Errorf("%q: %s, want %s", dir, f.path, at(want))
		}
		f.close()
	}
	if f := fs.choose("relative"); f.path != at("w") {
		t.Error(f.path)
	}
	none := openFolders(nil, nil, nil)
	if f := none.choose("/etc"); f.path != "/" || f.file != nil {
		t.Errorf("%+v", f)
	}
}
