package cli_test

import (
	"strings"
	"testing"
)

// Who starts a tool may give it an environment of its own, as clients of MCP do:
// the tool is called all the same, and a page opened, while the sandbox's own
// program holds the address.
func TestToolWithoutItsVariable(t *testing.T) {
	s := newSandbox(t)
	s.tool("fake", `echo "$*"; exit 7`, never)
	e := s.run("--write="+s.project, "--tool=fake", "--open", "--", "sh", "-c", `fake=$(command -v fake)
		env -i "$fake" one; echo $?
		env -i PATH="$PATH" setsid -w sh -c 'fake two; echo $?'
		env -i "$(command -v xdg-open)" file:///x 2>&1`)
	if want := "one\n7\ntwo\n7\nlnk sandbox: xdg-open: the address: want http or https\n"; e.out != want {
		t.Errorf("%q %q, want %q", e.out, e.errors, want)
	}
	// Where that gave it away too, what is missing is said.
	e = s.run("--write="+s.project, "--tool=fake", "--", "sh", "-c", `exec env -i PATH="$PATH" sh -c 'fake three; echo $?'`)
	if e.out != "126\n" || !strings.Contains(e.errors, "the tool's variable") {
		t.Errorf("%q %q", e.out, e.errors)
	}
}
