package stages

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
)

// proxyInside makes the sandbox's network from inside its namespaces,
// hands the listeners to the proxy that started it, and becomes the wall. Our
// own wall goes on in this process, which saves a start; any other command is
// executed. Started by anybody else it is the relay between a network and the
// proxies whose sockets are in folders.
func proxyInside(s say.Streams, args []string) (int, error) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "--control=") {
		return Relay(args, os.Environ())
	}
	fd, want, rest, err := inside.ParseFlags(args)
	if err != nil {
		return say.StatusSetup, err
	}
	if len(rest) < 2 || rest[0] != "--" {
		return say.StatusSetup, fmt.Errorf("no command: want -- and the wall's")
	}
	command := rest[1:]
	self, err := os.Executable()
	ours := err == nil && command[0] == self && len(command) > 1 && command[1] == "wall"
	var begun *launch.Begun
	if ours {
		begun = beginWall(command[2:]) // while the network is made
	}
	if err := inside.Enter(fd, want); err != nil {
		// The proxy that started this stage was told, and tells.
		begun.GiveUp()
		return say.StatusSetup, nil
	}
	if ours {
		return wallOf(begun, nil, s, command[2:], os.Environ())
	}
	if want.Sockets {
		return say.StatusSetup, fmt.Errorf("%s: ports are served from inside by lnk's own wall only", command[0])
	}
	err = unix.Exec(command[0], command, os.Environ())
	return say.StatusSetup, fmt.Errorf("%s: %w", command[0], err)
}
