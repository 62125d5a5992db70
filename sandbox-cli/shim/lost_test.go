package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInEnvironments(t *testing.T) {
	proc := t.TempDir()
	for pid, environ := range map[string]string{
		"1":     "",
		"2":     "PATH=/bin\x00XLNK_TOOL_T=http://no\x00LNK_TOOL_TT=http://no\x00LNK_TOOL_T=\x00",
		"9":     "A=1\x00LNK_TOOL_T=http://127.0.0.1:1/tool/t/\x00B=2\x00",
		"10":    "LNK_TOOL_T=http://later\x00",
		"long":  "LNK_TOOL_T=http://no process\x00",
		"self":  "LNK_TOOL_T=http://a link\x00",
		"11":    strings.Repeat("x", maxEnvironment) + "\x00LNK_TOOL_FAR=http://no\x00",
		"00012": "LNK_TOOL_ODD=http://no\x00",
	} {
		dir := filepath.Join(proc, pid)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "environ"), []byte(environ), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(proc, "3"), 0o755); err != nil { // has ended
		t.Fatal(err)
	}
	for variable, want := range map[string]string{"LNK_TOOL_T": "http://127.0.0.1:1/tool/t/", "LNK_TOOL_TT": "http://no", "LNK_TOOL_FAR": "", "LNK_TOOL_ODD": "", "LNK_TOOL_Z": ""} {
		if got := inEnvironments(proc, variable); got != want {
			t.Errorf("%s: %q, want %q", variable, got, want)
		}
	}
	if got := inEnvironments(filepath.Join(proc, "none"), "LNK_TOOL_T"); got != "" {
		t.Errorf("without a proc: %q", got)
	}
	// Outside a sandbox nobody else's environment is looked at.
	t.Setenv("LNK_TOOL_T", "")
	if got := addressFor("LNK_TOOL_T"); got != "" {
		t.Errorf("outside: %q", got)
	}
}
