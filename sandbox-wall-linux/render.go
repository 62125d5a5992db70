package linuxwall

import (
	"fmt"
	"strconv"
)

// BwrapArgs gives bubblewrap's options for a plan: the namespaces, the mounts
// and the current folder. What launches it adds the program, its filter and
// environment, and what ties it to its parent and terminal. The descriptors of
// [Open] are first, first+1 and so on in bubblewrap, which closes each once it
// is used.
func (p *Plan) BwrapArgs(first int) []string {
	// Even root gets a user namespace, so that no capability in it counts
	// outside; none can be made in it.
	args := []string{"--unshare-user"}
	if !p.lacks("--disable-userns") { // where it does, the filter alone keeps them from being made
		args = append(args, "--disable-userns")
	}
	args = append(args, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
	if p.Net == Own {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--cap-drop", "ALL", "--hostname", HostName)
	number := first
	for _, s := range p.Steps {
		args = append(args, s.bwrap(strconv.Itoa(number))...)
		if s.Opened() {
			number++
		}
	}
	return append(args, "--chdir", p.Dir)
}

// bwrap gives the options of one step.
func (s Step) bwrap(number string) []string {
	perms := fmt.Sprintf("%04o", s.Perm)
	switch s.Verb {
	case Empty, Close:
		if s.From != "" {
			return []string{"--bind", s.From, s.At}
		}
		if s.Size > 0 {
			return []string{"--perms", perms, "--size", strconv.FormatInt(s.Size, 10), "--tmpfs", s.At}
		}
		return []string{"--perms", perms, "--tmpfs", s.At}
	case MakeFolder:
		return []string{"--perms", perms, "--dir", s.At}
	case Read:
		if s.Stable != "" {
			return []string{"--ro-bind", s.Stable, s.At}
		}
		return []string{"--ro-bind-fd", number, s.At}
	case Write, Pin:
		if s.Stable != "" {
			return []string{"--bind", s.Stable, s.At}
		}
		return []string{"--bind-fd", number, s.At}
	case CloseFile:
		// A device on a mount without devices: opening it is EACCES, and it
		// is no socket to connect to.
		return []string{"--ro-bind", "/dev/null", s.At}
	case Tell:
		return []string{"--perms", perms, "--ro-bind-data", number, s.At}
	case WriteFile:
		return []string{"--perms", perms, "--file", number, s.At}
	case Processes:
		return []string{"--proc", s.At}
	case Devices:
		return []string{"--dev", s.At}
	case MakeLink:
		return []string{"--symlink", s.Text, s.At}
	case Seal:
		return []string{"--remount-ro", s.At}
	}
	return nil
}
