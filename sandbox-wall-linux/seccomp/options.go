package seccomp

import (
	"errors"
	"fmt"
	"runtime"
)

// Options are what a confinement changes of the filter.
type Options struct {
	// Arch is the machine's: "amd64" or "arm64". Empty is the one this was
	// built for.
	Arch string
	// Trace lets processes of the sandbox trace each other, all but its first:
	// the developer_tools of a confinement.
	Trace bool
	// NoMemfd closes files in memory, which could be executed: the commands
	// {"only"} of a confinement.
	NoMemfd bool
	// NoGroupSignal closes signals to the program's own process group: on a
	// terminal that is its caller's, which a kernel without Landlock's scope for
	// signals (6.12) lets it reach from any pid namespace.
	NoGroupSignal bool
	// UID and GID are the program's own, the only ids there are inside.
	UID, GID uint32
}

// A call is a system call of one architecture.
type call struct {
	nr   uint32
	name string
}

// arch is what the filter needs to know of an architecture.
type arch struct {
	name string
	// audit is its number in <linux/audit.h>: the ELF machine, and bits that
	// say 64 bits and little endian.
	audit uint32
	calls []call
}

const (
	auditAMD64 = 0xc000003e
	auditARM64 = 0xc00000b7
)

func (o Options) arch() (arch, error) {
	name := o.Arch
	if name == "" {
		name = runtime.GOARCH
	}
	switch name {
	case "amd64":
		return arch{"amd64", auditAMD64, amd64Calls}, nil
	case "arm64":
		return arch{"arm64", auditARM64, arm64Calls}, nil
	}
	return arch{}, fmt.Errorf("seccomp: %s: no table of its system calls: %w", name, errors.ErrUnsupported)
}
