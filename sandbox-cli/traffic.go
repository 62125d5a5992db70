package cli

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/traffic"
)

func newTraffic(s Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "traffic [--json]",
		Short: "Say what each running sandbox's proxy has carried",
		Long: `traffic lists the proxies that run now: the process, the sandbox, and the bytes of
every call it let through, from the sandbox (up) and to it (down), open calls and
those of its served ports included. Where models are reached by routes of theirs,
what their answers used follows: the answers, those of them that gave no usage,
the tokens of the prompts and of the answers, and of the prompts' those read from
the provider's cache and those written to it. The counts are at most a second old.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return showTraffic(s, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one array of JSON")
	return cmd
}

func showTraffic(s Streams, asJSON bool) error {
	dir, err := settings()
	if err != nil {
		return err
	}
	traffic.Sweep(dir, client.StartMarker) // what cannot be removed is left out by the reader
	list, err := client.ReadTrafficFrom(dir, client.StartMarker)
	if err != nil {
		return err
	}
	if asJSON {
		return client.WriteTraffic(s.Out, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(s.Out, "no proxy runs")
		return nil
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	models := slices.ContainsFunc(list, func(t measure.Traffic) bool { return t.Tokens != nil })
	head := "PID\tSANDBOX\tUP\tDOWN"
	if models {
		head += tokensHead
	}
	fmt.Fprintln(w, head)
	for _, t := range list {
		line := fmt.Sprintf("%d\t%s\t%s\t%s", t.PID, oneLine(t.Sandbox), size(t.Up), size(t.Down))
		if models {
			line += tokensLine(t.Tokens)
		}
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// The columns of what models' answers used, where any sandbox has some.
const tokensHead = "\tANSWERS\tUNMETERED\tINPUT\tOUTPUT\tCACHED\tWRITTEN"

func tokensLine(t *measure.Tokens) string {
	if t == nil {
		return "\t-\t-\t-\t-\t-\t-"
	}
	return fmt.Sprintf("\t%d\t%d\t%d\t%d\t%d\t%d", t.Requests, t.Unmetered, t.Input, t.Output, t.Cached, t.Written)
}

// size shows a number of bytes in three digits or so.
func size(n uint64) string {
	const step = 1024
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), 0
	for f >= step && unit < 6 {
		f, unit = f/step, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", f, " KMGTPE"[unit])
}
