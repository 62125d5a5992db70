package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// helpful has help refuse what is no command, as the commands do.
func helpful(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		c.Use, c.Run = "help [<command>]", nil
		c.RunE = func(_ *cobra.Command, args []string) error {
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return refuse("%s: no such command: `%s help` lists them", form.Quote(strings.Join(args, " ")), root.DisplayName())
			}
			return of.Help()
		}
	}
}

// spelled has help spell every command below c as its Use does, its flags in
// the order they are told in, and has words that a command does not take
// refused with what it does: that is status 2, as for a flag that is none. For
// `why`, 1 would be an answer.
func spelled(c *cobra.Command) {
	c.DisableFlagsInUseLine = true
	c.Flags().SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		// What no value is kept as is none that somebody would give.
		switch {
		case f.Value.Type() == "uintSlice":
			f.DefValue = ""
		case f.DefValue == "-1":
			f.DefValue = "0"
		}
	})
	if takes := c.Args; takes != nil && c.HasParent() {
		c.Args = func(c *cobra.Command, args []string) error {
			err := takes(c, args)
			switch {
			case err == nil || statusOf(err) == statusRefused:
				return err
			case c.HasSubCommands():
				return refuse("%s: no such command: `%s --help` lists them", form.Quote(args[0]), c.CommandPath())
			}
			return refuse("want `%s`", c.UseLine())
		}
	}
	for _, sub := range c.Commands() {
		spelled(sub)
	}
}
