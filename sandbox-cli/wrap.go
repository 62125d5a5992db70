package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

func newWrap(s Streams) *cobra.Command {
	var explain, bubblewrap bool
	cmd := &cobra.Command{
		Use:   "wrap [--explain] [--bubblewrap] < request.json",
		Short: "Print the command that runs an argv confined (JSON in, JSON out)",
		Long: `wrap reads {"confinement", "argv"} on standard input and prints {"argv", "env"}:
the command that runs argv confined on this system, and what to add to its
environment. With {"unwalled", "argv"} it is the command that runs argv as it
is, under its proxy on loopback. It starts nothing. With --explain it prints the
wall's plan instead: a line a step, each with its reason.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return wrap(s, explain, bubblewrap) },
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "print the plan, a line a step, instead of the command")
	cmd.Flags().BoolVar(&bubblewrap, "bubblewrap", false, "have bubblewrap make the sandbox, as is done where the kernel lets nobody else")
	return cmd
}

func wrap(s Streams, explain, bubblewrap bool) error {
	request, err := client.ReadWrapRequest(s.In)
	if err != nil {
		return withStatus(statusRefused, err)
	}
	set, err := readSetting()
	if err != nil {
		return err
	}
	set.bubblewrap = bubblewrap
	if request.Unwalled != nil {
		return wrapUnwalled(s, *request.Unwalled, request.Argv, set, explain)
	}
	c := *request.Confinement
	base, err := set.base("/", c.Name)
	if err != nil {
		return err
	}
	if err := base.CheckConfinement(c); err != nil {
		return withStatus(statusRefused, form.At("confinement", err))
	}
	made, err := chainOf(c, request.Argv, set)
	if err != nil {
		return placed(err, "/confinement/net/proxied/proxy")
	}
	if explain {
		return explainChain(s.Out, c, request.Argv, set)
	}
	if err := made.writeFiles(); err != nil {
		return settingsError(err)
	}
	return client.WriteWrapped(s.Out, client.Wrapped{Argv: made.argv, Env: made.env})
}

func wrapUnwalled(s Streams, u client.Unwalled, argv []string, set setting, explain bool) error {
	made, err := unwalledChain(u, argv, set)
	if err != nil {
		return placed(err, "/unwalled/proxy")
	}
	if explain {
		fmt.Fprintln(s.Out, "# no wall: nothing holds the program to its proxy, nor closes a file")
		return nil
	}
	if err := made.writeFiles(); err != nil {
		return settingsError(err)
	}
	return client.WriteWrapped(s.Out, client.Wrapped{Argv: made.argv, Env: made.env})
}

// placed says where in the request a rule stands that cannot be one.
func placed(err error, proxy string) error {
	var of routeHostError
	if errors.As(err, &of) {
		return refuse("%s/routes/%s: %q: %s", proxy, of.member, of.Entry, of.Why)
	}
	var rule *judge.RuleError
	if !errors.As(err, &rule) {
		return err
	}
	return refuse("%s/%s/%d: %q: %s", proxy, rule.Member, rule.Index, rule.Entry, rule.Why)
}
