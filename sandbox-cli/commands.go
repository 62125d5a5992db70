package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// silentStatus ends a command with a status and prints nothing: a confined
// program's own status is no failure of ours.
type silentStatus int

func (s silentStatus) Error() string { return "the program ended with a status of its own" }

func asSilent(err error, s *silentStatus) bool { return errors.As(err, s) }

// hinted is an error that says on a second line what to do about it.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

func hintOf(err error) (string, bool) {
	var h *hinted
	if errors.As(err, &h) {
		return h.hint, true
	}
	return "", false
}

func commandName(path, root string) string {
	return strings.TrimSpace(strings.TrimPrefix(path, root))
}

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use: "lnk-sandbox",
		// As people type it: lnk runs it.
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "lnk sandbox"},
		Short:       "Run programs you do not trust, with named files and named hosts only",
		Long: "lnk sandbox confines a program and gives it one way out.\n\n" +
			"The wall decides what it may touch; the proxy is its only network, to named\n" +
			"hosts only. `lnk sandbox run` is for people, `lnk sandbox wrap` for programs.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return refuse("%q: no such command: `lnk sandbox help` lists them", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return withStatus(statusRefused, plainFlagError(c, err))
	})
	root.AddCommand(newRun(s), newWrap(s), newReady(s), newWhy(s), newCheck(s), newTool(s), newAsks(s))
	addWires(root, s)
	root.AddCommand(newOnStop(), newTraffic(s), newLog(s), newCompletion(s))
	root.CompletionOptions.DisableDefaultCmd = true
	helpful(root)
	spelled(root)
	return root
}

// plainFlagError says of a flag that is none where they are listed, and of a
// flag's value what it should be. The library tells it in the words of what reads
// numbers.
func plainFlagError(c *cobra.Command, err error) error {
	var none *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	switch {
	case errors.As(err, &none) && !c.HasParent():
		return fmt.Errorf("%w: flags stand behind the command: `%s help` lists them", err, c.CommandPath())
	case errors.As(err, &none):
		return fmt.Errorf("%w: `%s --help` lists them", err, c.CommandPath())
	case errors.As(err, &bare):
		return fmt.Errorf("--%s: want its value behind it", bare.GetFlag().Name)
	}
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	want := ""
	switch wrong.GetFlag().Value.Type() {
	case "bool":
		want = "true or false"
	case "int":
		want = "a whole number"
	case "uintSlice":
		want = "a port of 1 to 65535, or several with commas between them"
	default:
		return err // it is one of ours, and says why
	}
	return fmt.Errorf("--%s %q: want %s", wrong.GetFlag().Name, wrong.GetValue(), want)
}
