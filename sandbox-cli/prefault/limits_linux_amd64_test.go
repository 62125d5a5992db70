package prefault

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Where Go's runtime would find too little of something, a program that begins
// with Entry says so in one line, and how to have more. Elsewhere it begins.
func TestTooLittle(t *testing.T) {
	program, err := os.Open(build(t, "-ldflags=-E=github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault.Entry"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	for _, c := range []struct{ limit, says string }{
		{"--as=100000000", noSpace},
		{"--data=20000000", noData},
		{"--nofile=16", noFiles},
		{"--nproc=1", noProcesses},
		{"--as=2000000000", ""},
		{"--data=200000000", ""},
		{"--nofile=16:64", ""},
		{"--nofile=24", ""},
		{"--nproc=1023", ""},
	} {
		// By its descriptor, since others may not go where it lies.
		cmd := exec.Command("prlimit", c.limit, "/proc/self/fd/3")
		cmd.ExtraFiles = []*os.File{program}
		if os.Getuid() == 0 { // whose processes nobody counts
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		want := status
		if c.says == "" {
			want = 0
		}
		if cmd.ProcessState.ExitCode() != want || errs.String() != c.says || (out.Len() == 0) != (c.says != "") {
			t.Errorf("%s: %v: %q, want %q", c.limit, err, errs.String(), c.says)
		}
	}
}
