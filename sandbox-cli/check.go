package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lnkhq/lnk-sandbox/probes"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// probeStage is the word of the step that makes attempts, inside.
const probeStage = "probe"

// checkTime bounds a check: an attempt at a host that does not answer takes ten
// seconds, and eight are made at once.
const checkTime = 2 * time.Minute

func newCheck(s Streams) *cobra.Command {
	var f runFlags
	var policy bool
	cmd := &cobra.Command{
		Use:   "check [flags]",
		Short: "Try, from inside, what a sandbox closes and what it opens",
		Long: `check makes the sandbox that run would make with these flags, tries in it what it
closes and what it opens, and prints a line a probe:

  blocked   it is closed, and could not be done
  allowed   it is opened, and was done
  failed    it is opened, and could not be done
  open      it is neither closed nor named, and was done
  missed    it is closed, and could not be tried here: nothing is known
  leaked    it is closed, and was done

With --policy it reads {"confinement"} on standard input, as wrap takes it. What
it tries is harmless and is taken away again; hosts that are opened are called.
Exit status 1 when something leaked, and only then.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if policy && c.Flags().NFlag() > 1 {
				return refuse("--policy: it reads the whole sandbox: no other flag goes with it")
			}
			err := check(c.Context(), s, f, policy)
			if policy {
				return noAnswer(placed(err, "/confinement/net/proxied/proxy"))
			}
			return noAnswer(f.wayAsTyped(err))
		},
	}
	cmd.Flags().BoolVar(&policy, "policy", false, "read {\"confinement\"} on standard input, as wrap takes it")
	f.grants(cmd.Flags())
	return cmd
}

func check(ctx context.Context, s Streams, f runFlags, policy bool) error {
	set, err := readSetting()
	if err != nil {
		return err
	}
	var c client.Confinement
	if policy {
		c, err = checkRequest(s, set)
	} else {
		c, err = confinementOf(f, set, false)
	}
	if err != nil {
		return err
	}
	if way, is := c.Net.Mode().(client.Proxied); is && way.Proxy.Hold {
		return refuse("/confinement/net/proxied/proxy/hold: it runs no program, so that there is nothing to try it from")
	}
	lines, err := probed(ctx, c, set)
	if err != nil {
		return err
	}
	return found(s.Out, lines)
}

// found prints what a check found.
func found(w io.Writer, lines []probes.Line) error {
	leaked := false
	for _, l := range lines {
		if _, err := fmt.Fprintln(w, oneLine(l.String())); err != nil {
			return err
		}
		leaked = leaked || l.Word == probes.Leaked
	}
	if leaked {
		return silentStatus(1)
	}
	return nil
}

// noAnswer has a command whose status 1 is an answer end with another where it
// has none.
func noAnswer(err error) error {
	var answer silentStatus
	if err == nil || asSilent(err, &answer) || statusOf(err) != statusFailed {
		return err
	}
	return withStatus(statusSetup, err)
}

func checkRequest(s Streams, set setting) (client.Confinement, error) {
	request, err := client.ReadCheckRequest(s.In)
	if err != nil {
		return client.Confinement{}, withStatus(statusRefused, err)
	}
	base, err := set.base("/", request.Confinement.Name)
	if err != nil {
		return client.Confinement{}, err
	}
	if err := base.CheckConfinement(request.Confinement); err != nil {
		return client.Confinement{}, withStatus(statusRefused, form.At("confinement", err))
	}
	return request.Confinement, nil
}

// probed makes a sandbox and has what is to be tried in it tried.
func probed(ctx context.Context, c client.Confinement, set setting) ([]probes.Line, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	// Ended by a signal it goes on to the end of this function, as it does when
	// its time is over.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	// What makes the attempts has to be in view and executed: our own file is
	// opened to read, and nothing else.
	within := c
	// A name of its own: files of the settings folder bear it, and those of a
	// sandbox that was wrapped by this one stay for its next start.
	within.Name = checkPrefix + strings.ToLower(rand.Text())
	sweepChecks(client.SettingsFolder(set.dir), time.Now())
	if log, err := client.SettingsFolder(set.dir).Log(within.Name); err == nil {
		defer os.Remove(log) // nobody would look for it
	}
	within.Read = append(slices.Clone(c.Read), set.self)
	if only, restricted := c.Commands.Only(); restricted {
		within.Commands = client.OnlyCommands(append(slices.Clone(only), set.self)...)
	}
	made, err := chainOf(within, []string{set.self, probeStage}, set)
	if err != nil {
		return nil, err
	}
	if err := made.writeFiles(); err != nil {
		return nil, settingsError(err)
	}
	defer made.removeFiles()
	outside := probes.Start(c, set.home, set.dir)
	defer outside.Close()
	all := probes.For(c, outside)
	var in, out, errs bytes.Buffer
	if err := probes.Ask(&in, all); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, made.argv[0], made.argv[1:]...)
	cmd.Env = os.Environ()
	for name, value := range made.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &errs
	if err := cmd.Run(); err != nil {
		if why := context.Cause(ctx); why != nil {
			return nil, fmt.Errorf("the check did not come to its end: %w", why)
		}
		if said := lastLine(errs.String()); said != "" {
			err = errors.New(said)
		}
		return nil, fmt.Errorf("the sandbox could not be tried: %w", err)
	}
	return probes.Answers(&out, all)
}

// lastLine is the last line of what a stage said, without its name.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "lnk sandbox run: ")
}

// probe is the step inside: it makes the attempts that it reads.
func probe(s Streams, _ []string) (int, error) { return 0, probes.Inside(s.In, s.Out) }
