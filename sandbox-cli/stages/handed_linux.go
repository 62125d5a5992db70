package stages

import (
	"errors"
	"fmt"
	"os"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
)

// HandsOut says whether a command is our own wall's and makes the program's
// network with the sandbox itself: the proxy is then handed sockets of it, and
// need not wait for a process in it that makes them. self is the program that
// runs these steps.
func HandsOut(self string, command []string) bool {
	if len(command) < 2 || command[0] != self || command[1] != "wall" {
		return false
	}
	f, err := parseWallFlags(command[2:])
	return err == nil && f.net == linuxwall.Given && !f.bubblewrap && !f.printBwrap && !f.limits.Any()
}

// handed is the wall of a sandbox whose network is handed out to the proxy that
// started this stage. What cannot be made so is left to the proxy, which then
// has the network made first.
func handed(s say.Streams, args []string) (int, error) {
	fd, want, rest, err := inside.ParseFlags(args)
	if err != nil {
		return say.StatusSetup, err
	}
	self, err := os.Executable()
	if err != nil {
		return say.StatusSetup, fmt.Errorf("our own binary: %w", err)
	}
	if len(rest) < 2 || rest[0] != "--" || !HandsOut(self, rest[1:]) {
		return say.StatusSetup, errors.New("no command: want -- and the wall's, of a network that is given")
	}
	hand, err := inside.TakeHand(fd)
	if err != nil {
		return say.StatusSetup, err
	}
	defer hand.Close()
	f, err := parseWallFlags(rest[3:])
	if err != nil {
		return say.StatusSetup, err
	}
	e := f.early()
	e.OwnNet, e.HandTo = true, hand.FD()
	for _, socket := range want.Handed() {
		e.Handed = append(e.Handed, direct.Handed{Domain: socket.Domain, Type: socket.Type, Protocol: socket.Protocol, Message: socket.Message})
	}
	e.Handed = append(e.Handed, direct.Handed{Message: inside.Finished()})
	status, err := wallOf(launch.Begin(e), hand, s, rest[3:], os.Environ())
	if otherwise(err) {
		if hand.Otherwise() == nil {
			return say.StatusSetup, nil
		}
	}
	return status, err
}

// otherwise says whether a start that failed is tried in another way.
func otherwise(err error) bool {
	return errors.Is(err, direct.ErrUnavailable) || errors.Is(err, linuxwall.ErrChanged)
}
