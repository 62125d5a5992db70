package labtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// intoNamespaces has cmd start in a network and a mount namespace of its own;
// an ordinary user gets a user namespace around them, and keeps his own id.
func intoNamespaces(cmd *exec.Cmd) {
	runtime.LockOSThread()
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW}
	}
	cmd.SysProcAttr = attr
}

// enterHost sets up this machine's side, starts the world, runs the tests with
// no more than their user has, and gives their status.
func enterHost(state string) (status int, err error) {
	runtime.LockOSThread()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return 0, fmt.Errorf("mounts: %w", err)
	}
	resolv := filepath.Join(state, "resolv.conf")
	if err := os.WriteFile(resolv, []byte("nameserver "+resolverAddr+"\n"), 0o644); err != nil {
		return 0, err
	}
	if err := unix.Mount(resolv, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
		return 0, fmt.Errorf("resolv.conf: %w", err)
	}
	world := same(roleWorld)
	world.Stdin, world.Stdout = nil, nil
	hold, err := world.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := world.StdoutPipe()
	if err != nil {
		return 0, err
	}
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
	world.SysProcAttr = attr
	if err := world.Start(); err != nil {
		return 0, fmt.Errorf("world: %w", err)
	}
	defer world.Wait()
	defer hold.Close()
	if err := cable(world.Process.Pid); err != nil {
		return 0, err
	}
	if _, err := hold.Write([]byte("go\n")); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "ready" {
		return 0, fmt.Errorf("the world did not come up: %q, %v", line, err)
	}
	// An ordinary user's tests start with none of what set this up: the ambient
	// set of the thread that starts them is what they would inherit.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("ambient capabilities: %w", err)
	}
	tests := same(roleTests)
	tests.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = tests.Run()
	if tests.ProcessState == nil {
		return 0, err
	}
	return tests.ProcessState.ExitCode(), nil
}

// cable joins this namespace to that of pid.
func cable(pid int) error {
	for _, line := range []string{
		"link set lo up",
		"link add lab0 type veth peer name lab1 netns " + strconv.Itoa(pid),
		"addr add " + HostAddr + "/24 dev lab0",
		"link set lab0 up",
		"route add default via " + ServerAddr,
	} {
		if err := ip(line); err != nil {
			return err
		}
	}
	return nil
}

// worldUp sets up the far end of the cable, from inside the world.
func worldUp() error {
	for _, line := range []string{
		"link set lo up",
		"addr add " + ServerAddr + "/24 dev lab1",
		"addr add " + OtherAddr + "/24 dev lab1",
		"addr add " + resolverAddr + "/24 dev lab1",
		"addr add " + LANAddr + "/24 dev lab1",
		"link set lab1 up",
	} {
		if err := ip(line); err != nil {
			return err
		}
	}
	return nil
}

func ip(line string) error {
	out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", line, err, strings.TrimSpace(string(out)))
	}
	return nil
}
