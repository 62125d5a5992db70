package linuxwall

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// childOf names the test whose child a process is.
const childOf = "LINUXWALL_TEST_CHILD"

// inNamespaces runs a test's own body in a child process that has namespaces
// of its own: true means that this is the child. What it mounts is gone with it.
func inNamespaces(t *testing.T, flags uintptr) (child bool) {
	t.Helper()
	if os.Getenv(childOf) == t.Name() {
		if flags&unix.CLONE_NEWNS != 0 {
			if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
				t.Fatal(err)
			}
		}
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.count", "1", "-test.v")
	cmd.Env = append(os.Environ(), childOf+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  flags | unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
	}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("in namespaces of its own: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in namespaces of its own it did not run:\n%s", out)
	}
	return false
}

// dropAmbient keeps the programs that this test starts from now on from having
// the capability that the mounts were made with: bubblewrap refuses to have one.
func dropAmbient(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // a process has the capabilities of the thread that starts it
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
}

// etc puts a made /etc over this machine's.
func etc(t *testing.T, files map[string]string, links map[string]string) {
	t.Helper()
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.ReadFile("/etc/ld.so.cache")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if err := unix.Mount("etc", "/etc", "tmpfs", 0, "mode=755"); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.MkdirAll(parent("/etc/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("/etc/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("passwd", string(passwd))
	write("ld.so.cache", string(cache))
	for name, text := range files {
		write(name, text)
	}
	for name, target := range links {
		if err := os.Symlink(target, "/etc/"+name); err != nil {
			t.Fatal(err)
		}
	}
}

// However a machine keeps its resolv.conf, the sandbox starts, and has its own
// or none, which comes to the same.
func TestRealResolvConf(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		links  map[string]string
		absent bool
	}{
		{name: "file", files: map[string]string{"resolv.conf": "nameserver 192.0.2.1\n", "hosts": "192.0.2.1 here\n"}},
		{name: "into-run", links: map[string]string{"resolv.conf": "../run/linuxwall-none/stub-resolv.conf"}},
		{name: "dangling", links: map[string]string{"resolv.conf": "/mnt/linuxwall-none/resolv.conf"}},
		{name: "to-a-file", files: map[string]string{"real": "nameserver 192.0.2.1\n"}, links: map[string]string{"resolv.conf": "real"}},
		{name: "dangling-in-etc", links: map[string]string{"resolv.conf": "none"}, absent: true},
		{name: "none", absent: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !inNamespaces(t, unix.CLONE_NEWNS) {
				return
			}
			etc(t, c.files, c.links)
			dropAmbient(t)
			s := newStage(t)
			r := s.run(s.confinement(), "cat /etc/resolv.conf; cat /etc/hosts; echo started")
			want := resolvConf
			if c.absent {
				want = ""
			}
			if c.files["hosts"] != "" {
				want += hosts
			}
			s.want(r, want+"started")
		})
	}
}

// ssh refuses what the system's configuration includes where its owner is
// neither root nor the user, and root is neither inside: it gets copies.
func TestRealSSHConfig(t *testing.T) {
	if !inNamespaces(t, unix.CLONE_NEWNS) {
		return
	}
	uid := os.Getuid()
	etc(t, map[string]string{
		"ssh/ssh_config":          "Include /etc/ssh/ssh_config.d/*.conf\n",
		"ssh/ssh_config.d/x.conf": "",
		"hosts":                   "",
	}, nil)
	f, err := os.OpenFile("/etc/passwd", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("someone:x:" + strconv.Itoa(uid) + ":" + strconv.Itoa(uid) + "::/:/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	// An included file that root of this machine owns; in a user namespace it
	// shows as nobody's.
	if err := unix.Mount("/usr/bin/env", "/etc/ssh/ssh_config.d/x.conf", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	dropAmbient(t)
	s := newStage(t)
	c := s.confinement()
	f2 := s.facts(c)
	copies := func() int {
		n := 0
		p, err := PlanFor(c, Own, f2, []string{"true"})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range p.Steps {
			if step.Verb == Tell && strings.HasPrefix(step.At, "/etc/ssh/") {
				n++
			}
		}
		return n
	}
	// The bound file is no text of ssh's; what counts is whose it is.
	node := f2.Nodes["/etc/ssh/ssh_config.d/x.conf"]
	node.UID = 0
	f2.Nodes["/etc/ssh/ssh_config.d/x.conf"] = node
	f2.Texts["/etc/ssh/ssh_config.d/x.conf"] = Text{Text: "Compression no\n", Whole: true}
	if want := map[bool]int{true: 0, false: 1}[uid == 0]; copies() != want {
		t.Errorf("%d copies, want %d", copies(), want)
	}
	if uid == 0 {
		return // root's files are the user's
	}
	p, err := PlanFor(c, Own, f2, []string{"/bin/sh", "-c", "ssh -G host >/dev/null && echo ok; cat /etc/ssh/ssh_config.d/x.conf"})
	if err != nil {
		t.Fatal(err)
	}
	s.want(s.start(p), "ok\nCompression no")
	// Without the copies ssh refuses, so that the test sees.
	for i := len(p.Steps) - 1; i >= 0; i-- {
		if strings.HasPrefix(p.Steps[i].At, "/etc/ssh/") {
			p.Steps = append(p.Steps[:i:i], p.Steps[i+1:]...)
		}
	}
	if r := s.start(p); !strings.Contains(r.errs, "Bad owner or permissions") {
		t.Errorf("without copies ssh says %q, %q", r.out, r.errs)
	}
}

// Where the network namespace is a given one, the sockets of this machine are
// listed in that of the processes it comes from.
func TestRealSocketsFromGivenNetwork(t *testing.T) {
	if os.Getenv(childOf) == t.Name() {
		dropAmbient(t)
		s := newStage(t)
		s.net = Given
		c := s.confinement()
		c.Net = client.Net{}
		c.Read = []string{os.Getenv("LINUXWALL_TEST_SOCKETS")}
		at := c.Read[0] + "/app.sock"
		p := s.plan(c, "/bin/sh", "-c", "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\""+at+"\")' 2>&1 | tail -1")
		if got := verbAt(p, at); got != CloseFile {
			t.Errorf("the socket: %s\n%s", verbName(got), p.Explain())
		}
		s.want(s.start(p), "ConnectionRefusedError: [Errno 111] Connection refused")
		return
	}
	dir := t.TempDir()
	listener, err := net.Listen("unix", dir+"/app.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	t.Setenv("LINUXWALL_TEST_SOCKETS", dir)
	inNamespaces(t, unix.CLONE_NEWNET)
}

// A network that is said to be given but is this machine's is refused.
func TestRealGivenNetworkIsNone(t *testing.T) {
	route, _ := text("/proc/self/net/route", maxTable)
	route6, _ := text("/proc/self/net/ipv6_route", maxTable)
	out := false
	for _, device := range routedDevices(route, route6) {
		out = out || device != "lo"
	}
	s := newStage(t)
	s.net = Given
	c := s.confinement()
	c.Net = client.Net{}
	f, err := ReadFacts(LocalSystem(), c, Given, Bubblewrap, s.env)
	if !out {
		return // a machine without a network has none to leave open
	}
	if err == nil {
		_, err = PlanFor(c, Given, f, []string{"true"})
	}
	if !errors.Is(err, ErrRefused) {
		t.Errorf("error %v, want a refusal", err)
	}
}
