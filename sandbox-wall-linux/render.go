package linuxwall

import (
	"fmt"
	"strconv"
)

// BwrapArgs gives bubblewrap's options for a plan, without the program: what
// launches it adds its filter, "--" and Argv. numbers are the descriptors of
// [Open] as bubblewrap will have them, one for each step that is Opened, in
// the order of the steps; bubblewrap closes each once it is used.
func (p *Plan) BwrapArgs(numbers []int) ([]string, error) {
	args := []string{
		"--die-with-parent",
		// Even root gets a user namespace, so that no capability in it counts
		// outside; none can be made in it.
		"--unshare-user", "--disable-userns",
		"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
	}
	if p.Net == Own {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--cap-drop", "ALL", "--hostname", hostName)
	if !p.Terminal {
		args = append(args, "--new-session")
	}
	left := numbers
	for _, s := range p.Steps {
		number := ""
		if s.Opened() {
			if len(left) == 0 {
				return nil, fmt.Errorf("linuxwall: %d descriptors are too few for the plan: this is a fault of ours, please report it", len(numbers))
			}
			number, left = strconv.Itoa(left[0]), left[1:]
		}
		args = append(args, s.bwrap(number)...)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("linuxwall: %d descriptors are too many for the plan: this is a fault of ours, please report it", len(numbers))
	}
	return append(args, "--chdir", p.Dir), nil
}

// bwrap gives the options of one step.
func (s Step) bwrap(number string) []string {
	perms := fmt.Sprintf("%04o", s.Perm)
	switch s.Verb {
	case Empty, Close:
		return []string{"--perms", perms, "--tmpfs", s.At}
	case MakeFolder:
		return []string{"--perms", perms, "--dir", s.At}
	case Read:
		return []string{"--ro-bind-fd", number, s.At}
	case Write, Pin:
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
