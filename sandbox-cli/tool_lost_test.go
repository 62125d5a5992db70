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

// A client that asks the proxy for everything, whatever NO_PROXY says, finds the
// routes all the same: by a request as to a proxy, and by a tunnel.
func TestRoutesByTheProxyItself(t *testing.T) {
	s := newSandbox(t)
	s.tool("fake", `echo "$*"`, never)
	e := s.run("--tool=fake", "--", "sh", "-c", `ask() { curl -sS --noproxy "" -x "$HTTPS_PROXY" "$@" "$LNK_TOOL_FAKE?arg=one"; }; ask -d x; ask -p -d x`)
	if e.out != "one\none\n" {
		t.Errorf("%d %q %s", e.status, e.out, e.errors)
	}
}
