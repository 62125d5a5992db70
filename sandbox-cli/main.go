package cli

import (
	"fmt"
	"io"
	"os"
)

// Streams are the standard streams of one command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs `lnk-sandbox <args>` and gives its exit status.
func Main(args []string) int {
	s := Streams{os.Stdin, os.Stdout, os.Stderr}
	if len(args) > 0 {
		if stage, ok := stages[args[0]]; ok {
			return runStage(s, stage, args[1:])
		}
	}
	return runCommand(s, args)
}

// A stage is one step of a start. It is given its own arguments and gives the
// status its process ends with.
type stage func(s Streams, args []string) (int, error)

// runStage runs one step of a start; its failures are failures to set up. They
// are told as run's: whoever started the chain asked for a run, by that name or
// by wrap's command, and need not know its steps.
func runStage(s Streams, run stage, args []string) int {
	status, err := run(s, args)
	if err == nil {
		return status
	}
	complain(s.Err, "run", err)
	if status != 0 {
		return status
	}
	if c := statusOf(err); c != statusFailed {
		return c
	}
	return statusSetup
}

func runCommand(s Streams, args []string) int {
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	var silent silentStatus
	if asSilent(err, &silent) {
		return int(silent)
	}
	complain(s.Err, commandName(cmd.CommandPath(), root.Name()), err)
	if h, ok := hintOf(err); ok {
		fmt.Fprintf(s.Err, "hint: %s\n", oneLine(h))
	}
	if status := statusOf(err); cmd.Name() != "run" || status > statusRefused {
		return status
	}
	return statusSetup // whatever is wrong before the program runs: its caller tells that apart from the program's own
}
