package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/asks"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

func newAsks(s Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "asks [--json]",
		Short: "List the calls of tools that wait for an answer",
		Long: `A call of a tool that is asked about waits: on the terminal that the sandbox was
started on, and here. The first answer holds, for that one call; none in time is
a no.`,
		Example: `  lnk sandbox asks
  lnk sandbox asks allow 4711-1`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listAsks(s, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line: id, sandbox, name, call, folder, since")
	for _, answer := range []struct {
		word, short string
		allow       bool
	}{{"allow", "Allow a call that waits, this once", true}, {"deny", "Refuse a call that waits", false}} {
		cmd.AddCommand(&cobra.Command{
			Use:   answer.word + " <id>",
			Short: answer.short,
			Args: func(_ *cobra.Command, args []string) error {
				if len(args) != 1 {
					return refuse("want `lnk sandbox asks %s <id>`", answer.word)
				}
				return nil
			},
			RunE: func(_ *cobra.Command, args []string) error {
				folder, err := asksFolder()
				if err != nil {
					return err
				}
				return asks.Answer(folder, args[0], answer.allow)
			},
		})
	}
	return cmd
}

func asksFolder() (string, error) {
	settings, err := client.Settings()
	if err != nil {
		return "", err
	}
	return asks.Folder(settings.Sandbox()), nil
}

func listAsks(s Streams, asJSON bool) error {
	folder, err := asksFolder()
	if err != nil {
		return err
	}
	all, err := asks.Pending(folder)
	if err != nil {
		return err
	}
	if len(all) == 0 && !asJSON {
		fmt.Fprintln(s.Out, "no call waits")
	}
	for _, q := range all {
		if asJSON {
			if err := form.Write(s.Out, q); err != nil {
				return err
			}
			continue
		}
		waits := max(0, time.Since(time.Unix(q.Since, 0)).Round(time.Second)) // the clock may have been set
		what := "run, in " + q.Folder
		if q.Folder == "" {
			what = "open a page"
		}
		fmt.Fprintf(s.Out, "%s  %s asks to %s, since %s:\n  %s\n", q.ID, oneLine(q.Sandbox), oneLine(what), waits, oneLine(q.Call))
	}
	return nil
}

// ranOutside says which tools run outside, and whether they are asked about.
func ranOutside(all []route.Route) []string {
	var lines []string
	for _, r := range all {
		switch k := r.Kind.(type) {
		case route.Tool:
			line := "runs outside, as you: " + tool.Shown(k.Argv)
			switch {
			case k.Ask == route.AskNone:
				line += " (never asked about)"
			case len(k.Allow) > 0:
				line += fmt.Sprintf(" (asked about, but for %d kinds of calls)", len(k.Allow))
			default:
				line += " (each call asked about)"
			}
			lines = append(lines, line)
		case route.Open:
			lines = append(lines, "opens pages in your browser, each asked about")
		}
	}
	return lines
}
