package stages

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/limits"
)

// scopedFlag says that the wall runs in a cgroup that a service manager gave
// it, and names the descriptor of its program's environment.
const scopedFlag = "--scoped"

// maxEnv bounds an environment: the kernel takes less (execve(2), 6 MiB).
const maxEnv = 8 << 20

// scope starts this stage anew in a cgroup of its own, where limits need one
// and it is to be had; else it returns. The program's environment goes along
// in memory: the service manager's client needs another one.
func scope(l client.Limits, args, env []string) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	fd, err := unix.MemfdCreate("env", 0) // kept over exec
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), "env")
	defer f.Close() // it owns the descriptor, whose number is another's once it is closed
	if _, err := f.WriteAt([]byte(strings.Join(env, "\x00")), 0); err != nil {
		return
	}
	limits.Scope(l, append([]string{self, "wall", scopedFlag, strconv.Itoa(fd)}, args...))
}

// scopedWall gives what follows the flag, and the environment that came along.
func scopedWall(args []string) (rest, env []string, err error) {
	if len(args) < 2 || args[0] != scopedFlag {
		return args, nil, nil
	}
	fd, err := strconv.Atoi(args[1])
	if err != nil || fd < 3 {
		return nil, nil, fmt.Errorf("%s: %q: want a descriptor", scopedFlag, args[1])
	}
	f := os.NewFile(uintptr(fd), "env")
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxEnv))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", scopedFlag, err)
	}
	env = []string{}
	for v := range bytes.SplitSeq(text, []byte{0}) {
		env = append(env, string(v))
	}
	// Where it cannot be used, the limits say so.
	_ = limits.Enter()
	return args[2:], env, nil
}
