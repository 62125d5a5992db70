package cli

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/lnkhq/lnk-sandbox/probes"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
)

// Main runs `lnk-sandbox <args>` and gives its exit status.
func Main(args []string) int {
	// Nothing of ours writes to the log package. net/http's client does: what a
	// host says unasked, word for word, would stand on the user's terminal.
	log.SetOutput(io.Discard)
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if len(args) == 0 {
		probes.Executed()
	}
	if len(args) > 0 {
		if run, ok := stage(args[0]); ok {
			return stages.Run(s, run, args[1:])
		}
	}
	status := runCommand(s, args)
	interruptedToo(status)
	return status
}

func runCommand(s Streams, args []string) int {
	out := &say.Out{Writer: s.Out}
	s.Out = out
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	var silent silentStatus
	if answered := err == nil || asSilent(err, &silent); answered && out.Err() == nil {
		return int(silent)
	} else if answered {
		err = fmt.Errorf("the answer could not be written: %w", out.Err())
		if silent != 0 {
			err = setupFailed(err) // it is none of that status
		}
	}
	complain(s.Err, commandName(cmd.CommandPath(), root.DisplayName()), err)
	if h, ok := hintOf(err); ok {
		fmt.Fprintf(s.Err, "hint: %s\n", oneLine(h))
	}
	if status := statusOf(err); cmd.Name() != "run" || status > statusRefused {
		return status
	}
	return statusSetup // whatever is wrong before the program runs: its caller tells that apart from the program's own
}
