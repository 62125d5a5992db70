package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestCompletionOfEachShell(t *testing.T) {
	for shell, want := range map[string]string{"bash": "-F __start_lnk lnk", "zsh": "#compdef lnk\n", "fish": "complete -c lnk ", "powershell": "-CommandName 'lnk'"} {
		var out bytes.Buffer
		if status := runCommand(Streams{Out: &out, Err: &out}, []string{"completion", shell}); status != 0 || !strings.Contains(out.String(), want) || strings.Contains(out.String(), "lnk-sandbox") {
			t.Errorf("%s: status %d, without %q or with the plugin's binary:\n%.600s", shell, status, want, out.String())
		}
	}
	var out bytes.Buffer
	if status := runCommand(Streams{Out: &out, Err: &out}, []string{"completion", "tcsh"}); status != 2 {
		t.Errorf("tcsh: status %d: %s", status, out.String())
	}
}
