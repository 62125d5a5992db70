package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// bash asks what it is to ask when a person types `lnk sandbox …` and a tab.
// Of the bash-completion package one function is needed; it is here for
// machines without.
func TestCompletionCompletesWhatIsTyped(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	script, err := exec.Command(lnk(), "sandbox", "completion", "bash").Output()
	if err != nil {
		t.Fatal(err)
	}
	const typed = `
_init_completion() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; }
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
COMPREPLY=()
__start_lnk
printf '%s\n' "${COMPREPLY[@]%% *}"
complete -p lnk >/dev/null || echo lnk is not completed
`
	ask := func(words ...string) []string {
		t.Helper()
		c := exec.Command(bash, append([]string{"--norc", "-c", string(script) + typed, "bash"}, words...)...)
		c.Env = []string{"PATH=" + filepath.Dir(lnk()) + ":" + os.Getenv("PATH")}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", words, err, out)
		}
		return strings.Fields(string(out))
	}
	for _, c := range []struct {
		typed []string
		want  string
	}{
		{[]string{"lnk", ""}, "sandbox"},
		{[]string{"lnk", "sa"}, "sandbox"},
		{[]string{"lnk", "pl"}, "plugin"},
		{[]string{"lnk", "plugin", "in"}, "install"},
		{[]string{"lnk", "plugin", "install", "s"}, "sandbox"},
		{[]string{"lnk", "sandbox", "tr"}, "traffic"},
		{[]string{"lnk", "sandbox", "tool", "li"}, "list"},
		{[]string{"lnk", "sandbox", "run", "--internet-h"}, "--internet-host"},
		{[]string{"lnk", "sandbox", "completion", "z"}, "zsh"},
	} {
		if got := ask(c.typed...); !slices.Contains(got, c.want) {
			t.Errorf("%q: %q, want %s", c.typed, got, c.want)
		}
	}
	for _, typed := range [][]string{{"lnk", "sandbox", "zz"}, {"lnk", "nothing", "x"}, {"lnk", "plugin", "list", ""}} {
		if got := ask(typed...); len(got) != 0 {
			t.Errorf("%q: %q", typed, got)
		}
	}
}
