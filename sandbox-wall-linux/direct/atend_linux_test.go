package direct

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What is done at the end is done however the end comes, and when nothing is to
// be done nothing is.
func TestAtEnd(t *testing.T) {
	if os.Getenv("DIRECT_TEST_AT_END") != "" {
		atEnd(os.Getenv("DIRECT_TEST_AT_END"))
		return
	}
	for _, how := range []string{"killed", "ended", "done", "nothing"} {
		made := t.TempDir() + "/made"
		cmd := exec.Command("/proc/self/exe", "-test.run", "^TestAtEnd$")
		cmd.Env = append(os.Environ(), "DIRECT_TEST_AT_END="+how+" "+made)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 100)
		n, _ := out.Read(line)
		first, _, _ := strings.Cut(string(line[:n]), "\n")
		if how == "killed" {
			cmd.Process.Kill()
		}
		pid, err := strconv.Atoi(first)
		if err != nil {
			t.Fatalf("%s: %q", how, line[:n])
		}
		// Nobody is held up by the one that waits.
		if _, err := io.ReadAll(out); err != nil {
			t.Error(err)
		}
		cmd.Wait()
		for deadline := time.Now().Add(10 * time.Second); unix.Kill(pid, 0) == nil && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		text, err := os.ReadFile(made)
		if want := how == "killed" || how == "ended"; want != (err == nil) {
			t.Errorf("%s: %q, %v", how, text, err)
		}
		if how == "killed" && string(text) != "0 1 2 \nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n/\n" {
			t.Errorf("%s: %q", how, text)
		}
	}
}

func atEnd(order string) {
	how, made, _ := strings.Cut(order, " ")
	a, err := BeginAtEnd()
	if err != nil {
		panic(err)
	}
	if how != "nothing" {
		err := a.Become([]string{"/bin/sh", "-c", `(for fd in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && printf '%s ' $fd; done; echo; grep -E 'Sig(Blk|Ign)' /proc/$$/status; pwd) >"$0".new; mv "$0".new "$0"`, made})
		if err != nil {
			panic(err)
		}
	}
	fmt.Println(a.pid)
	switch how {
	case "killed":
		time.Sleep(time.Hour)
	case "done":
		a.Kill()
		a.Wait()
		a.Close()
	}
}
