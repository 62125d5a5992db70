package cli

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
)

// proxyInsideStage makes the sandbox's network from inside its namespaces,
// hands the listeners to the proxy that started it, and becomes the wall. Our
// own wall goes on in this process, which saves a start; any other command is
// executed.
func proxyInsideStage(s Streams, args []string) (int, error) {
	fd, want, rest, err := inside.ParseFlags(args)
	if err != nil {
		return statusSetup, err
	}
	if len(rest) < 2 || rest[0] != "--" {
		return statusSetup, fmt.Errorf("no command: want -- and the wall's")
	}
	if err := inside.Enter(fd, want); err != nil {
		// The proxy that started this stage was told, and tells.
		return statusSetup, nil
	}
	command := rest[1:]
	if self, err := os.Executable(); err == nil && command[0] == self && len(command) > 1 && command[1] == "wall" {
		return wallStage(s, command[2:])
	}
	err = unix.Exec(command[0], command, os.Environ())
	return statusSetup, fmt.Errorf("%s: %w", command[0], err)
}
