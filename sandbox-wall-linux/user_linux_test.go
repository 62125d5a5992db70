package linuxwall

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// ordinaryUser gives the number of an account that is nobody's in particular:
// the first of a person in the user database, else one that has no account.
func ordinaryUser(t *testing.T) (uid int, account string) {
	t.Helper()
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(passwd)) {
		f := strings.Split(line, ":")
		if len(f) < 7 {
			continue
		}
		if n, err := strconv.Atoi(f[2]); err == nil && n >= 1000 && n < 60000 {
			return n, f[0]
		}
	}
	return 61234, ""
}

// TestAsOrdinaryUser runs the tests of the real wall once more as a user, for
// whom the kernel has other rules, where this is root's run.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		return // all of them are a user's already
	}
	uid, _ := ordinaryUser(t)
	dir, err := os.MkdirTemp("", "linuxwall-user-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// go test keeps the binary in a folder that is root's alone.
	copied := dir + "/real.test"
	if err := copyFile("/proc/self/exe", copied, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, dir + "/home"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(d, uid, uid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(copied, "-test.run", "^TestReal", "-test.count", "1", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir + "/home", "TMPDIR=" + dir, "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "--- PASS: TestReal"); n < 10 {
		t.Errorf("only %d tests were run:\n%s", n, out)
	}
}

func copyFile(from, to string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
