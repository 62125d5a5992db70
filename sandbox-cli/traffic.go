package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/traffic"
)

func newTraffic(s Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "traffic [--json]",
		Short: "Say what each running sandbox's proxy has carried",
		Long: `traffic lists the proxies that run now: the process, the sandbox, and the bytes of
every call it let through, from the sandbox (up) and to it (down), open calls
included. The counts are at most a second old.`,
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
	fmt.Fprintln(w, "PID\tSANDBOX\tUP\tDOWN")
	for _, t := range list {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", t.PID, oneLine(t.Sandbox), size(t.Up), size(t.Down))
	}
	return w.Flush()
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
