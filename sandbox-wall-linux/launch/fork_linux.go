package launch

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// shieldsFor are the ways to a pid namespace: root makes one as it is, anybody
// else, and root in a container, in a user namespace.
func shieldsFor(uid int) []uintptr {
	inUser := uintptr(unix.CLONE_NEWPID | unix.CLONE_NEWUSER)
	if uid == 0 {
		return []uintptr{unix.CLONE_NEWPID, inUser}
	}
	return []uintptr{inUser}
}

// fork starts bubblewrap in a pid namespace of its own, or where that is not to
// be had without.
func (b *sandbox) fork(argv []string, fds []uintptr, n numbers) (pid int, shielded bool, err error) {
	shields := b.shields
	if n.orders == 0 && !lastingSecond() {
		shields = nil
	}
	for _, flags := range shields {
		if n.orders != 0 {
			flags |= unix.CLONE_NEWNS // in which /proc is its own, see prepare
		}
		pid, err = syscall.ForkExec(argv[0], argv, b.attr(fds, flags))
		switch {
		case err == nil:
			return pid, true, nil
		case !refusesNamespace(err):
			return 0, false, err
		}
	}
	if n.orders != 0 {
		err = fmt.Errorf("this machine lets us make no namespaces of our own: %w", err)
		if why := NoNamespaces(); why != "" {
			err = fmt.Errorf("%w; %s", err, why)
		} else if errors.Is(err, unix.EPERM) && filtered(os.ReadFile) {
			err = fmt.Errorf("%w; a filter of calls is on, such as a container's: start the container with %s", err, noFilter)
		} else if errors.Is(err, unix.ENOSPC) {
			err = fmt.Errorf("%w: there are too many, or they are nested too deep: end some, or raise user.max_*_namespaces (sysctl)", err)
		}
		return 0, false, setupError("the sandbox could not be set up", err)
	}
	if b.spec.Terminal {
		return b.forkStaged(fds, n)
	}
	pid, err = syscall.ForkExec(argv[0], argv, b.attr(fds, 0))
	return pid, false, err
}

// refusesNamespace tells what clone(2) and the files of user_namespaces(7)
// answer where a namespace is not to be had, from bubblewrap being missing.
func refusesNamespace(err error) bool {
	switch err {
	case unix.EPERM, unix.EINVAL, unix.ENOSPC, unix.EUSERS, unix.EACCES:
		return true
	}
	return false
}

// groups are signals that are sent to whole process groups, bubblewrap's among
// them: by a terminal, a shell, or the program with kill(0, …). SIGHUP is not
// one of them, so that nohup(1) can be told from us.
var groups = []os.Signal{
	unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
	unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
}

// forkStaged starts bubblewrap deaf to what is sent to its group, as the first
// process of a pid namespace is by itself. The stage inside hears it again.
func (b *sandbox) forkStaged(fds []uintptr, n numbers) (int, bool, error) {
	if len(b.spec.Stage) == 0 {
		return 0, false, setupError("a terminal cannot be kept", errors.New("this machine lets us make no pid namespace: run lnk sandbox ready"))
	}
	argv, _, err := b.spec.argv(n, true)
	if err != nil {
		return 0, false, err
	}
	signal.Ignore(groups...)
	pid, err := syscall.ForkExec(argv[0], argv, b.attr(fds, 0))
	signal.Reset(groups...)
	b.listen()
	return pid, false, err
}

func (b *sandbox) attr(fds []uintptr, flags uintptr) *syscall.ProcAttr {
	sys := &syscall.SysProcAttr{
		Pdeathsig:  unix.SIGKILL,
		Setpgid:    !b.spec.Terminal,
		Cloneflags: flags,
	}
	if flags&unix.CLONE_NEWUSER != 0 {
		uid, gid := os.Geteuid(), os.Getegid()
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		if flags&unix.CLONE_NEWNS != 0 {
			sys.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // to mount; given up before bubblewrap
		}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
	// Env is empty and not nil: nil would be ours.
	return &syscall.ProcAttr{Env: []string{}, Files: fds, Sys: sys}
}
