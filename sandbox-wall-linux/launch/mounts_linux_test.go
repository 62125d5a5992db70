package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A sandbox that loses a mount is ended at once, with all that is in it, and
// that is told; one whose mount is not there does not start.
func TestMountLost(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		file, other := dir+"/f", dir+"/g"
		for _, at := range []string{file, other} {
			if err := os.WriteFile(at, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		name := tag(t)
		o := sh("echo up; setsid sleep 600 & trap '' TERM; sleep 600; echo went on")
		o.By, o.Mounted, o.Env = by, file, []string{"MARK=" + name}
		o.Args = []string{"--bind", dir, dir, "--ro-bind", file, file, "--ro-bind", other, other}
		cmd := o.command(t)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Process.Kill()
		readUntil(t, out, "up\n")
		for _, at := range []string{other, file} { // the first is no reason
			if err := os.WriteFile(at+"~", []byte("new"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(at+"~", at); err != nil {
				t.Fatal(err)
			}
		}
		rest := make([]byte, 64)
		n, _ := out.Read(rest) // to the end: the sleepers hold the pipe
		if err := cmd.Wait(); code(err) != 137 || n != 0 {
			t.Errorf("%v, said %q", err, rest[:n])
		}
		if want := "error: the sandbox was ended: " + file + " is gone\n"; errs.String() != want {
			t.Errorf("told %q, want %q", errs.String(), want)
		}
		gone(t, name)

		o = sh("echo ran")
		o.By, o.Mounted = by, "/no/such"
		if got := o.do(t); got.status != 125 || got.out != "" || got.errs != "error: the sandbox could not be set up: /no/such is gone" {
			t.Errorf("one that is not there: %+v", got)
		}
	})
}
