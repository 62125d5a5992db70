package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

var aConfinement = client.Confinement{Name: "web", Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{})}

// installLnk puts commands first on PATH, shell scripts, and gives a folder
// that they can write, which they find in $NOTES.
func installLnk(t *testing.T, scripts map[string]string) (notes string) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range scripts {
		path := filepath.Join(bin, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	notes = t.TempDir()
	t.Setenv("NOTES", notes)
	t.Setenv("BIN", bin)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+"/usr/bin"+string(os.PathListSeparator)+"/bin")
	return notes
}

// note is what a script wrote.
func note(t *testing.T, notes, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(notes, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	answers = `echo "$*" >> "$NOTES/calls"; cat > "$NOTES/request"; echo '{"argv":["wall","--","x"],"env":{"A":"b"}}'` + "\n"
	isThere = "exit 0\n"
)

func TestWrap(t *testing.T) {
	notes := installLnk(t, map[string]string{"lnk": answers, "lnk-sandbox": isThere})
	got, err := client.Wrap(t.Context(), aConfinement, []string{"x", "y z"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(got.Argv, "|") != "wall|--|x" || got.Env["A"] != "b" {
		t.Errorf("got %+v", got)
	}
	if s := note(t, notes, "calls"); s != "sandbox wrap\n" {
		t.Errorf("called %q", s)
	}
	const want = `{"confinement":{"name":"web","write":[],"read":[],"commands":"any","net":"closed"},"argv":["x","y z"]}` + "\n"
	if s := note(t, notes, "request"); s != want {
		t.Errorf("sent %s", s)
	}
	u := client.Unwalled{Name: "web", Proxy: client.Proxy{Upstream: "direct"}}
	if _, err := client.WrapUnwalled(t.Context(), u, []string{"x"}); err != nil {
		t.Fatal(err)
	}
	if s := note(t, notes, "request"); !strings.HasPrefix(s, `{"unwalled":{"name":"web",`) {
		t.Errorf("sent %s", s)
	}
}

// A plugin that is missing is installed first, and only then.
func TestWrapInstalls(t *testing.T) {
	notes := installLnk(t, map[string]string{
		"lnk":               `echo "$*" >> "$NOTES/calls"; if [ "$1" = plugin ]; then cp "$BIN/spare/lnk-sandbox" "$BIN/"; exit; fi; cat > /dev/null; echo '{"argv":["x"],"env":{}}'` + "\n",
		"spare/lnk-sandbox": isThere,
	})
	for range 2 {
		if _, err := client.Wrap(t.Context(), aConfinement, []string{"x"}); err != nil {
			t.Fatal(err)
		}
	}
	if s := note(t, notes, "calls"); s != "plugin install sandbox\nsandbox wrap\nsandbox wrap\n" {
		t.Errorf("called %q", s)
	}
}

// A plugin beside lnk itself is there, also when lnk is a link elsewhere.
func TestWrapFindsThePluginBesideLnk(t *testing.T) {
	notes := installLnk(t, map[string]string{"lib/lnk": answers, "lib/lnk-sandbox": isThere})
	bin := os.Getenv("BIN")
	if err := os.Symlink(filepath.Join(bin, "lib/lnk"), filepath.Join(bin, "lnk")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Wrap(t.Context(), aConfinement, []string{"x"}); err != nil {
		t.Fatal(err)
	}
	if s := note(t, notes, "calls"); s != "sandbox wrap\n" {
		t.Errorf("called %q", s)
	}
}

func TestWrapFails(t *testing.T) {
	plugin := map[string]string{"lnk-sandbox": isThere}
	for name, c := range map[string]struct {
		lnk     string
		missing bool // no plugin
		want    string
		refused bool
	}{
		"refused":            {lnk: "cat >/dev/null; echo noise >&2; echo 'lnk sandbox wrap: /confinement/net: reaching: not on macOS' >&2; exit 2", want: "lnk sandbox wrap: /confinement/net: reaching: not on macOS", refused: true},
		"could not":          {lnk: "echo 'lnk sandbox wrap: bwrap: not found' >&2; exit 1", want: "lnk sandbox wrap: bwrap: not found"},
		"another's words":    {lnk: "printf 'sh: \\033[31mno\\n\\n' >&2; exit 1", want: `lnk sandbox wrap: sh: \x1b[31mno`},
		"no words":           {lnk: "exit 3", want: "lnk sandbox wrap: exit status 3"},
		"not installed":      {lnk: "echo 'lnk plugin install: no network' >&2; exit 1", missing: true, want: "lnk plugin install sandbox: lnk plugin install: no network"},
		"no answer":          {lnk: "cat >/dev/null", want: "lnk sandbox wrap: its answer is not one: empty, want a JSON value"},
		"another's answer":   {lnk: `cat >/dev/null; echo '{"argv":["x"],"env":{},"more":1}'`, want: "lnk sandbox wrap: its answer is not one: /more: unknown"},
		"an endless answer":  {lnk: "cat >/dev/null; head -c 3000000 /dev/zero", want: "lnk sandbox wrap: its answer is not one: more than 1 MiB"},
		"does not read":      {lnk: `exec <&-; echo '{"argv":["x"],"env":{}}'`, want: ""},
		"ended by a signal":  {lnk: "kill -9 $$", want: "lnk sandbox wrap: signal: killed"},
		"much noise, a line": {lnk: "head -c 100000 /dev/zero | tr '\\0' 'x' >&2; echo >&2; echo 'lnk sandbox wrap: why' >&2; exit 1", want: "lnk sandbox wrap: why"},
	} {
		t.Run(name, func(t *testing.T) {
			scripts := map[string]string{"lnk": c.lnk + "\n"}
			if !c.missing {
				scripts["lnk-sandbox"] = plugin["lnk-sandbox"]
			}
			installLnk(t, scripts)
			_, err := client.Wrap(t.Context(), aConfinement, []string{"x"})
			if message(err) != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
			if errors.Is(err, client.ErrRequest) != c.refused {
				t.Errorf("it is a refusal of the request: %v", !c.refused)
			}
			var e *client.CommandError
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%T", err)
			}
		})
	}
	t.Run("no lnk", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := client.Wrap(t.Context(), aConfinement, []string{"x"}); err == nil || !strings.HasSuffix(err.Error(), "install lnk") {
			t.Errorf("%v", err)
		}
	})
	t.Run("refused here", func(t *testing.T) {
		notes := installLnk(t, map[string]string{"lnk": answers, "lnk-sandbox": isThere})
		bad := aConfinement
		bad.Write = []string{"relative"}
		if _, err := client.Wrap(t.Context(), bad, []string{"x"}); !errors.Is(err, client.ErrRequest) {
			t.Errorf("%v", err)
		}
		if _, err := client.Wrap(t.Context(), aConfinement, nil); !errors.Is(err, client.ErrRequest) {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(filepath.Join(notes, "calls")); err == nil {
			t.Error("it was sent")
		}
	})
}

// A command that hangs is ended with the context, its children's pipes too.
func TestWrapEnds(t *testing.T) {
	notes := installLnk(t, map[string]string{"lnk": "sleep 600 & echo $! > \"$NOTES/child\"; : > \"$NOTES/there\"; wait\n", "lnk-sandbox": isThere})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no more patience")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(notes, "there")); err == nil {
				cancel(why)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := client.Wrap(ctx, aConfinement, []string{"x"})
	if !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	killNoted(t, notes)
}
