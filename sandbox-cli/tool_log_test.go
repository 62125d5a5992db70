package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The log has a line a call: the tool's name, how many words, how it ended. It
// has none of the words. A call ends with its caller, also one made by curl,
// and one that a stop ends says so.
func TestToolCallsInTheLog(t *testing.T) {
	s := newSandbox(t)
	mark := fmt.Sprintf("77%06d", time.Now().UnixNano()%1000000)
	s.tool("fake", `test "$1" = die && kill -TERM $$; exit 7`, never)
	s.tool("long", `echo up; exec sleep `+mark, never)
	cmd, _ := s.start(lnk(), "sandbox", "run", "--yes", "--tool=fake", "--tool=long", "--write="+s.project, "--", "sh", "-c", `echo up
		fake hunter2 'p4ss w0rd'; fake die; curl -sS -d '{"args":["a\u0000hunter2"]}' -H 'Content-Type: application/json' $LNK_TOOL_FAKE
		curl -sSN -X POST "$LNK_TOOL_LONG?arg=hunter2" -o out & p=$!
		while ! [ -s out ]; do sleep 0.02; done; kill -9 $p; wait $p
		curl -sS -H 'Content-Type: application/json' -d '{"args":[]}' $LNK_TOOL_LONG & p=$!
		while ! [ -e go ]; do sleep 0.02; done; kill -9 $p; wait $p; : > gone
		curl -sS -X POST "$LNK_TOOL_LONG"; exec sleep 50`)
	defer cmd.Process.Kill()
	log := func() string { return s.command("", []string{lnk(), "sandbox", "log", "-n", "0"}).out }
	seen := func(words string) {
		t.Helper()
		eventually(t, func() error {
			if said := log(); !strings.Contains(said, words) {
				return fmt.Errorf("no %q in\n%s", words, said)
			}
			return nil
		})
	}
	seen("allowed  tool/fake (route): 2 words, status 7, up ")
	seen("allowed  tool/fake (route): 1 word, ended by signal 15, up ")
	seen("refused  tool/fake (route): word 1: a NUL byte, which no argument can hold")
	seen("allowed  tool/long (route): 1 word, ended by signal 15, its caller was gone, up ")
	awaitProcess(t, "sleep "+mark)
	s.put("go", "")
	seen("allowed  tool/long (route): ended by signal 15, its caller was gone, up ")
	awaitProcess(t, "sleep "+mark)
	s.command("", []string{lnk(), "sandbox", "stop"})
	seen("cut      tool/long (route): every wire was stopped, ended by signal 15, its caller was gone, up ")
	gone(t, "sleep "+mark)
	cmd.Process.Signal(syscall.SIGTERM)
	waitFor(t, cmd)
	if said := log(); strings.Contains(said, "hunter2") || strings.Contains(said, "w0rd") || strings.Contains(said, s.project) {
		t.Errorf("the log holds what was said:\n%s", said)
	}
}

// awaitProcess waits until a process's command line holds the text.
func awaitProcess(t *testing.T, text string) {
	t.Helper()
	eventually(t, func() error {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			b, _ := os.ReadFile(f)
			if line := strings.ReplaceAll(string(b), "\x00", " "); strings.HasPrefix(line, text) {
				return nil
			}
		}
		return fmt.Errorf("%s does not run", text)
	})
}
