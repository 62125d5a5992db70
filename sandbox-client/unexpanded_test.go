package client

import (
	"strings"
	"testing"
)

// What a shell expands is told from names that have the same letters.
func TestUnexpanded(t *testing.T) {
	for path, want := range map[string]string{
		"/w/*.env": "patterns", "/w/**/.env": "patterns", "/w/.en?": "patterns", "/w/[ab]": "patterns",
		"/w/{a,b}/.env": "patterns", "/w/{1..3}": "patterns", "/w/x{,.bak}": "patterns",
		"/w/$HOME/secret": "variables", "/w/${HOME}/secret": "variables", "/w/a${x}": "variables",
		"/w/~ann/x": "~ is", "/w/~ann": "~ is", "/w/~/x": "~ is",
		"/w/.env": "", "/w/{a}": "", "/w/{a/b,c}": "", "/w/a..b": "", "/w/$RECYCLE.BIN": "variables", "/w/~$note.docx": "", "/w/cost$": "", "/w/a$x": "",
		"/w/$1": "", "/w/a~": "", "/w/~": "", "/w/b~/c": "", "/w/a~b": "", "/w/~1": "", "/w/a b": "",
	} {
		if got := Unexpanded(path); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
