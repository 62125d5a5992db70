package landlock

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Execute does what [Scope] does, which must not be put on before it, and
// restricts the calling thread, and every process it starts from then on, to
// executing what paths name: files, and all files below folders. Links
// at the end of a path are not followed. What a file names as its interpreter
// or its loader is executed as well (execve(2)), and so must be named too.
//
// The caller holds the thread with runtime.LockOSThread and executes the
// program on it. A kernel that cannot is an error, see [ExecuteABI].
func Execute(paths []string) error {
	attr, err := ExecuteSet()
	if err != nil {
		return err
	}
	fd, err := ruleSet(attr)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := beneath(fd, "/", unix.LANDLOCK_ACCESS_FS_REFER); err != nil {
		return err
	}
	for _, p := range paths {
		if err := beneath(fd, p, unix.LANDLOCK_ACCESS_FS_EXECUTE); err != nil {
			return err
		}
	}
	return restrict(fd)
}

// ExecuteSet gives the rule set of [Execute], as [ScopeSet] does, without its rules: until it has
// one of LANDLOCK_ACCESS_FS_REFER for the root, and one of
// LANDLOCK_ACCESS_FS_EXECUTE for each path, it closes more.
//
// Moving files between folders is closed by every rule set with rights on
// files, unless it is named and opened (landlock(7), ABI 2). Opened for the
// root, it is as without; only a file does not get into a folder that may
// execute more.
//
// The scopes are in the same set and not in one before it: that one, too, would
// close moving, and cannot open it, since then it would forbid mounts.
func ExecuteSet() ([]byte, error) {
	if ABI() < ExecuteABI {
		return nil, fmt.Errorf("landlock: the kernel has version %d, and %d is needed: %w", ABI(), ExecuteABI, errors.ErrUnsupported)
	}
	return attributes(unix.LANDLOCK_ACCESS_FS_EXECUTE|unix.LANDLOCK_ACCESS_FS_REFER, scopesOf(ABI())), nil
}

func beneath(ruleset int, path string, access uint64) error {
	at, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	defer unix.Close(at)
	// struct landlock_path_beneath_attr is packed: 8 bytes and 4.
	var rule [12]byte
	*(*uint64)(unsafe.Pointer(&rule[0])) = access
	*(*int32)(unsafe.Pointer(&rule[8])) = int32(at)
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule[0])), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %s: %w", path, errno)
	}
	return nil
}
