package stages

import (
	"fmt"
	"os"
	"strconv"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
)

// givenFlag names the descriptor of givenFolder as others see it: what makes a
// sandbox from inside its network may not make that itself.
const (
	givenFlag   = "--given"
	givenFolder = "/etc"
)

// Give gives the wall's command givenFolder as others see it, where self is the
// program of both, and we may: a descriptor that it is started with, as fd, and the
// command that names it. Nil is that it does without.
func Give(self string, command []string, fd int) (*os.File, []string) {
	if os.Geteuid() != 0 || len(command) < 2 || command[0] != self || command[1] != "wall" {
		return nil, command
	}
	if f, err := parseWallFlags(command[2:]); err != nil || f.bubblewrap || f.printBwrap {
		return nil, command
	}
	tree, err := direct.AsOthersSee(givenFolder)
	if err != nil {
		return nil, command
	}
	return tree, append([]string{self, "wall", givenFlag, strconv.Itoa(fd)}, command[2:]...)
}

// parseGiven takes the flag from the front of the wall's arguments.
func parseGiven(args []string) (given direct.Given, rest []string, err error) {
	if len(args) < 2 || args[0] != givenFlag {
		return nil, args, nil
	}
	fd, err := strconv.Atoi(args[1])
	if err != nil || fd < 3 {
		return nil, nil, fmt.Errorf("%s: %q: want a descriptor", givenFlag, args[1])
	}
	return direct.Given{givenFolder: fd}, args[2:], nil
}
