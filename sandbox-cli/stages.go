package cli

import "fmt"

// stages are the steps of a start, dispatched before any command is built. All
// are hidden: `wrap` writes them and people need not know them.
var stages = map[string]stage{
	"proxy":        proxyStage,
	"proxy-inside": proxyInsideStage,
	"wall":         wallStage,
	"inside":       insideStage,
	"sweep":        sweepStage,
}

// stageWithEnv runs the first stage of a chain in this process: `run` is the
// chain's first process itself. Its program gets env and nothing else.
func stageWithEnv(s Streams, name string, args, env []string) (int, error) {
	switch name {
	case "proxy":
		return proxyWithEnv(s, args, env)
	case "wall":
		return wallWithEnv(s, args, env)
	}
	return 0, fmt.Errorf("%s: no stage begins with it: this is a fault of lnk itself", name)
}
