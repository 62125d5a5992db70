package limits

import "strconv"

// The user's own service manager makes a cgroup for a command, and delegates it
// (systemd-run(1), --scope; systemd.resource-control(5), Delegate=): a user may
// then make groups in it, as nowhere else.
const systemdRun = "/usr/bin/systemd-run"

// scoped gives the command that becomes argv in a cgroup of its own.
func scoped(argv ...string) []string {
	return append([]string{systemdRun, "--user", "--scope", "--quiet", "--collect", "-p", "Delegate=yes", "--"}, argv...)
}

// managerSocket is where a user's service manager listens.
func managerSocket(uid int) string { return runtimeFolder(uid) + "/systemd/private" }

func runtimeFolder(uid int) string { return "/run/user/" + strconv.Itoa(uid) }
