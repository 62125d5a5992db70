package landlock

import (
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ABI gives the kernel's version of Landlock: 0 when it was built without, was
// started without (the lsm= of its command line), or does not let us ask.
func ABI() int { return abi() }

var abi = sync.OnceValue(func() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
})

// Closable says what [Scope] closes on this kernel.
func Closable() Scoped { return scoped(ABI(), scopesOf(ABI())) }

// Scope restricts the calling thread, and every process and thread it starts
// from then on. The caller holds it with runtime.LockOSThread and lets it end
// with its goroutine, since nothing takes the restriction off. The thread also
// loses what exec can gain (no_new_privs), without which Landlock refuses it.
//
// A kernel that lacks the scopes is no error: see [Scoped.Missing].
func Scope() (Scoped, error) {
	attr := ScopeSet()
	if attr == nil {
		return scoped(ABI(), 0), nil
	}
	fd, err := ruleSet(attr)
	if err != nil {
		return scoped(ABI(), 0), err
	}
	defer unix.Close(fd)
	return Closable(), restrict(fd)
}

// ScopeSet gives the rule set of [Scope], a struct landlock_ruleset_attr, for a
// process that makes it and puts it on itself (landlock_restrict_self(2)); nil
// where the kernel has no scopes.
func ScopeSet() []byte {
	scopes := scopesOf(ABI())
	if scopes == 0 {
		return nil
	}
	return attributes(0, scopes)
}

// attributes are struct landlock_ruleset_attr: rights on files, on networks and,
// as of ABI 6, scopes. The kernel takes any size that it knows.
func attributes(files, scoped uint64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, files)
	if scoped == 0 {
		return b // as a kernel without them has it
	}
	return binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(b, 0), scoped)
}

func ruleSet(attr []byte) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(unsafe.SliceData(attr))), uintptr(len(attr)), 0)
	if errno != 0 {
		return -1, fmt.Errorf("landlock: make a rule set: %w", errno)
	}
	return int(fd), nil
}

// restrict puts a rule set on the calling thread.
func restrict(fd int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("landlock: no_new_privs: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); errno != 0 {
		return fmt.Errorf("landlock: restrict the thread: %w", errno)
	}
	return nil
}
