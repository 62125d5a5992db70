package cli

import (
	"fmt"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
)

// stage gives a step of a start by its word. They are dispatched before any
// command is built. All are hidden.
func stage(word string) (stages.Stage, bool) {
	switch word {
	case "proxy":
		return proxyStage, true
	case probeStage:
		return probe, true
	}
	s, ok := stages.All[word]
	return s, ok
}

// stageWithEnv runs the first stage of a chain in this process: `run` is the
// chain's first process itself. Its program gets env and nothing else.
func stageWithEnv(s Streams, name string, args, env []string) (int, error) {
	switch name {
	case "proxy":
		return proxyWithEnv(s, args, env)
	case "wall":
		return stages.Wall(s, args, env)
	case "proxy-inside":
		return stages.Relay(args, env)
	}
	return 0, fmt.Errorf("%s: no stage begins with it: this is a fault of lnk itself", name)
}
