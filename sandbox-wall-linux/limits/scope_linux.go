package limits

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// scopePatience bounds asking the service manager.
const scopePatience = 5 * time.Second

// Scope becomes argv in a cgroup that the user's service manager delegates,
// with an environment that names nothing else. It returns only when there is
// no such manager, when it gives none, or when the limits can be held without:
// then the caller goes on as it is. What argv starts calls [Enter].
func Scope(l client.Limits, argv []string) {
	uid := os.Getuid()
	if uid == 0 || l.Memory == 0 && l.Processes == 0 && l.CPU == 0 {
		return
	}
	for _, h := range hierarchies(table("/proc/self/cgroup"), table("/proc/self/mountinfo")) {
		if !h.unified {
			return // delegation of version 1 gives no controllers
		}
		for _, parent := range h.parents() {
			if unix.Access(filepath.Join(parent, "cgroup.procs"), unix.W_OK) == nil && delegates(parent, l) {
				return // a group can be made here
			}
		}
	}
	var st unix.Stat_t
	if unix.Stat(managerSocket(uid), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK || int(st.Uid) != uid {
		return
	}
	env := []string{"PATH=/usr/bin:/bin", "XDG_RUNTIME_DIR=" + runtimeFolder(uid)}
	ctx, cancel := context.WithTimeout(context.Background(), scopePatience)
	defer cancel()
	// First for nothing: what it says then is not the program's to be ended by.
	ask := scoped("/bin/true")
	cmd := exec.CommandContext(ctx, ask[0], ask[1:]...)
	cmd.Env = env
	if cmd.Run() != nil {
		return
	}
	become := scoped(argv...)
	_ = unix.Exec(become[0], become, env)
}

// delegates says whether a folder's groups get all that the limits need.
func delegates(parent string, l client.Limits) bool {
	has := strings.Fields(table(filepath.Join(parent, "cgroup.subtree_control")))
	for _, w := range wants(l, true) {
		found := false
		for _, c := range has {
			found = found || c == w.controller
		}
		if !found {
			return false
		}
	}
	return true
}

// Enter readies the cgroup that [Scope] came by: this process goes into a group
// below it, since one that holds processes can have no groups with controllers.
func Enter() error {
	for _, h := range hierarchies(table("/proc/self/cgroup"), table("/proc/self/mountinfo")) {
		if !h.unified {
			continue
		}
		own := filepath.Join(h.own, "lnk")
		if err := os.Mkdir(own, 0o755); err != nil {
			return err
		}
		if err := put(filepath.Join(own, "cgroup.procs"), strconv.Itoa(os.Getpid())); err != nil {
			return err
		}
		var err error
		for _, c := range strings.Fields(table(filepath.Join(h.own, "cgroup.controllers"))) {
			if c == "memory" || c == "pids" || c == "cpu" {
				err = errors.Join(err, put(filepath.Join(h.own, "cgroup.subtree_control"), "+"+c))
			}
		}
		return err
	}
	return errors.New("limits: no cgroups of version 2 here")
}
