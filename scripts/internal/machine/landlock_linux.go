package machine

import "syscall"

// landlock asks the kernel for the version of Landlock's interface:
// landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION), system
// call 444 on every architecture (landlock(7), since 5.13). None is 0.
func landlock() int {
	const createRuleset, version = 444, 1
	got, _, errno := syscall.Syscall(createRuleset, 0, 0, version)
	if errno != 0 {
		return 0
	}
	return int(got)
}
