package limits

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// A share of the processors does not count who runs at a realtime priority:
// nobody below it can have one, also where this process may.
func TestNoRealtimeBesideShare(t *testing.T) {
	for cpu, held := range map[int]bool{50: true, 0: false} {
		g := makeIn(client.Limits{CPU: cpu, Memory: 1 << 30}, nil, 1000)
		if most, is := g.resources()[unix.RLIMIT_RTPRIO]; is != held || most != 0 {
			t.Errorf("cpu %d: a realtime priority is limited %v, to %d", cpu, is, most)
		}
	}
	program, _ := waiting(t)
	if err := makeIn(client.Limits{CPU: 50}, nil, 1000).Hold(program); err != nil {
		t.Fatal(err)
	}
	var now unix.Rlimit
	if err := unix.Prlimit(program, unix.RLIMIT_RTPRIO, nil, &now); err != nil || now.Max != 0 {
		t.Errorf("may have a realtime priority up to %d: %v", now.Max, err)
	}
}

// Who runs at one already is refused, in words.
func TestRealtimeRefused(t *testing.T) {
	program, end := waiting(t)
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}
	if err := unix.SchedSetAttr(program, &attr, 0); err != nil {
		if os.Getuid() == 0 {
			t.Fatal(err)
		}
		return // a user who may have none
	}
	err := makeIn(client.Limits{CPU: 50}, nil, 1000).Hold(program)
	if !errors.Is(err, errRealtime) || !strings.Contains(err.Error(), "chrt --other 0") {
		t.Errorf("a realtime priority beside a share: %v", err)
	}
	end()
}

// waiting starts a program that waits for its end.
func waiting(t *testing.T) (pid int, end func()) {
	t.Helper()
	program := exec.Command("cat")
	in, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close()
			program.Wait()
		}
	}
	t.Cleanup(end)
	return program.Process.Pid, end
}
