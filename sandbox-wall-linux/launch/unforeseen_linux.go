package launch

import (
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"

	"golang.org/x/sys/unix"
)

// errAbove is that bubblewrap has said why, which is not for us to know.
var errAbove = errors.New("bubblewrap gives the reason above")

const notThere = "only another user may go there, and root in a sandbox is no more than anybody: run it as that user, or let others through (chmod o+x)"

// unforeseen is why bubblewrap gave up, as far as it can be told afterwards
// from what often makes it.
func (b *sandbox) unforeseen() error {
	for _, f := range b.spec.Files {
		if path.IsAbs(f.Name()) && closedToRoot(f.Name()) {
			return fmt.Errorf("%w; %s: %s", errAbove, f.Name(), notThere)
		}
	}
	if why := Hindrance(); why != "" {
		return fmt.Errorf("%w; %s", errAbove, why)
	}
	return errAbove
}

// explained says more of why a view could not be made.
func explained(err error) error {
	switch {
	// Root's capabilities are of its own user namespace, and hold for files of
	// users that this one maps (user_namespaces(7)): of root alone.
	case errors.Is(err, unix.EACCES) && os.Geteuid() == 0:
		return fmt.Errorf("%w: %s", err, notThere)
	case errors.Is(err, unix.EPERM) && procCovered(os.ReadFile):
		return fmt.Errorf("%w; %s", err, noProcHere)
	}
	return err
}

// closedToRoot says whether a path cannot be reached by root without what lets
// it past modes: over what belongs to users that a user namespace does not
// have, root in it has no such power (user_namespaces(7)).
func closedToRoot(path string) bool {
	if os.Geteuid() != 0 {
		return false
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var all [2]unix.CapUserData
	if unix.Capget(&header, &all[0]) != nil {
		return false
	}
	few := all
	few[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	if unix.Capset(&header, &few[0]) != nil {
		return false
	}
	defer unix.Capset(&header, &all[0])
	var st unix.Stat_t
	return unix.Stat(path, &st) == unix.EACCES
}
