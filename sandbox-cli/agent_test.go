package cli_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// as starts a command as a user that nobody is, of one more group.
func (s *sandbox) as(uid, group int, argv ...string) *exec.Cmd {
	s.t.Helper()
	home := filepath.Join(s.root, "of-"+strconv.Itoa(uid))
	if err := os.Mkdir(home, 0o700); err != nil && !os.IsExist(err) {
		s.t.Fatal(err)
	}
	if err := os.Chown(home, uid, uid); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = home
	cmd.Env = append(s.env(), "HOME="+home)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), Groups: []uint32{uint32(group)}}}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// A proxy that runs as another user than its agent takes in.sock only as the
// agent's: not another's of the same group, put in its place.
func TestAgentUser(t *testing.T) {
	s := newSandbox(t)
	lnkSandbox := filepath.Join(filepath.Dir(lnk()), "lnk-sandbox")
	served := freePort(t)
	dir := filepath.Join(s.root, "way")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	proxyArgs := func(agent, group int) []string {
		return []string{lnkSandbox, "proxy", "--name", "box", "--upstream", "direct", "--any-host", "--dir", dir, "--serve", strconv.Itoa(served),
			"--agent-user", strconv.Itoa(agent), "--group", strconv.Itoa(group), "--hold"}
	}
	// A folder that is not shared with the group is a start that fails.
	e := s.command("", proxyArgs(os.Getuid(), os.Getgid()))
	if e.status != 125 || !strings.Contains(e.errors, "want group "+strconv.Itoa(os.Getgid())+" and mode 2770") {
		t.Errorf("status %d, %s", e.status, e.errors)
	}
	if os.Getuid() != 0 {
		return // to be two users takes root
	}
	const proxy, agent, other, group = 61240, 61241, 61242, 61250
	if err := os.Chown(dir, proxy, group); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, os.ModeSetgid|0o770); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.root, 0o711); err != nil {
		t.Fatal(err)
	}
	s.as(proxy, group, proxyArgs(agent, group)...)
	awaited(t, "out.sock", listens(filepath.Join(dir, "out.sock")))
	if info, err := os.Lstat(filepath.Join(dir, "out.sock")); err != nil || info.Mode().Perm() != 0o660 || info.Sys().(*syscall.Stat_t).Gid != group {
		t.Errorf("out.sock: %v, %v", info, err)
	}
	if n, said := byFolder(dir, "http://"+labtest.AllowedName+"/hello"); n != 200 {
		t.Errorf("%d %s", n, said)
	}
	// The agent's sandbox is a network of its own, which something else made.
	s.put("server.py", server)
	for _, c := range []struct {
		uid  int
		want bool
	}{{other, false}, {agent, true}} {
		r := s.relayInANetwork(c.uid, group, dir, served)
		if _, err := fetch("127.0.0.1", served, "/"); (err == nil) != c.want {
			t.Errorf("in.sock of user %d: %v", c.uid, err)
		}
		r.in.Close()
		r.cmd.Wait()
	}
	// By its name the agent's, and another's in its place.
	r := s.relayInANetwork(agent, group, dir, served)
	in := filepath.Join(dir, "in.sock")
	if err := os.Remove(in); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", in)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chown(in, agent, group); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch("127.0.0.1", served, "/"); err == nil {
		t.Error("a socket that another listens on was taken")
	}
	r.in.Close()
	r.cmd.Wait()
}

// relayInANetwork is the relay alone, as a user, in a network of its own, with
// a server on a port there.
func (s *sandbox) relayInANetwork(uid, group int, dir string, port int) *running {
	s.t.Helper()
	lnkSandbox := filepath.Join(filepath.Dir(lnk()), "lnk-sandbox")
	id := strconv.Itoa(uid)
	return s.begin([]string{"unshare", "--net", "sh", "-c", `ip link set lo up && exec "$@"`, "sh",
		"setpriv", "--reuid", id, "--regid", id, "--groups", strconv.Itoa(group),
		lnkSandbox, "proxy-inside", "--also", dir + "=19200", "--", "/usr/bin/python3", "-u", s.project + "/server.py", strconv.Itoa(port)})
}
