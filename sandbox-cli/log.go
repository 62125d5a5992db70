package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/journal"
)

const (
	// logLines is how many lines are shown at first, unless it is said.
	logLines = 200
	// followTime is how often a log is looked at that is followed.
	followTime = 200 * time.Millisecond
)

// logFlags are how a log is shown.
type logFlags struct {
	follow, asJSON bool
	lines          int
}

func newLog(s Streams) *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log [-f] [-n <lines>] [--json] [<sandbox>]",
		Short: "Show what proxies let through and refused",
		Long: `log shows what the proxy of a sandbox decided, or of every one, the latest lines
last: calls that were let through, with their bytes, when they are over, and calls
that were refused, with the reason and what opens them. Logs of sandboxes that are
gone are kept for a while. They hold hosts and ports, no paths, no queries and no
content; and the paths of files that tools outside act on, which a program changed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.lines < 0 {
				return refuse("--lines %d: want 0, which is all, or more", f.lines)
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return showLog(ctx, s, f, strings.Join(args, ""))
		},
	}
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with what is decided from now on, until interrupted")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "one object of JSON a line")
	cmd.Flags().IntVarP(&f.lines, "lines", "n", logLines, "the `number` of lines that are shown, of those there are; 0 is all that are kept")
	return cmd
}

func showLog(ctx context.Context, s Streams, f logFlags, sandbox string) error {
	dir, err := settings()
	if err != nil {
		return err
	}
	tail, err := journal.NewTail(dir, sandbox)
	if err != nil {
		return refuse("%v", err)
	}
	defer tail.Close()
	lines, err := latest(tail, f.lines)
	for {
		if err != nil {
			return settingsError(err)
		}
		for _, l := range lines {
			if _, err := io.WriteString(s.Out, f.show(l)); err != nil {
				return err
			}
		}
		if !f.follow {
			if len(lines) == 0 {
				names, _ := tail.Names() // that nothing is kept is said all the same
				complainLine(s.Err, "log", strings.TrimSuffix("nothing is kept of "+sandbox, " of ")+askedFor("log", sandbox, names))
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followTime):
		}
		lines, err = latest(tail, 0)
	}
}

// latest reads the new lines of all files, in time's order, at most n.
func latest(tail *journal.Tail, n int) (lines []journal.Line, err error) {
	err = tail.Read(func(l journal.Line) {
		if lines = append(lines, l); n > 0 && len(lines) > 8*n+1024 {
			lines = cut(lines, n)
		}
	})
	return cut(lines, n), err
}

// cut sorts lines by time and leaves the latest n; 0 leaves all.
func cut(lines []journal.Line, n int) []journal.Line {
	slices.SortStableFunc(lines, func(a, b journal.Line) int { return a.At.Compare(b.At) })
	if n > 0 && len(lines) > n {
		lines = slices.Delete(lines, 0, len(lines)-n)
	}
	return lines
}

// show is one line as it is printed.
func (f logFlags) show(l journal.Line) string {
	if f.asJSON {
		b, err := json.Marshal(l, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return ""
		}
		return string(say.JSON(b)) + "\n"
	}
	return oneLine(l.At.Local().Format("2006-01-02 15:04:05")+"  "+l.Sandbox+"  "+logWords(l)) + "\n"
}

// logWords says what a line is of.
func logWords(l journal.Line) string {
	switch l.What {
	case journal.Began:
		return fmt.Sprintf("began    process %d", l.PID)
	case journal.Ended:
		if l.Status != nil {
			return fmt.Sprintf("ended    status %d", *l.Status)
		}
		return strings.TrimRight("ended    "+l.Detail, " ")
	case journal.Lost:
		return fmt.Sprintf("lost     %d lines that could not be written, or came too fast to be", l.N)
	case journal.Changed:
		return "changed  " + l.Path + " " + l.Detail
	case journal.Call:
	default:
		return l.What
	}
	to := l.Host
	if l.Port != 0 {
		to = fmt.Sprintf("%s:%d", to, l.Port)
	}
	if l.Route != "" {
		to = strings.TrimSpace(l.Route + " " + to)
	}
	to += " (" + string(l.By) + ")"
	switch {
	case !l.Allowed:
		if l.Address != "" {
			to += " at " + l.Address
		}
		if l.Open != "" {
			return "refused  " + to + ": " + l.Detail + "; to open it: " + l.Open
		}
		return "refused  " + to + ": " + l.Detail
	case l.Reason == proxy.Stopped:
		return "cut      " + to + ": " + strings.TrimPrefix(l.Detail, "cut off: ") + carried(l)
	case l.Reason != "":
		return "failed   " + to + ": " + l.Detail
	}
	return "allowed  " + to + ": " + strings.TrimPrefix(carried(l), ", ")
}

// carried is how a call ended, what it carried and how long it was open.
func carried(l journal.Line) string {
	text := fmt.Sprintf(", up %s, down %s, %s", size(l.Up), size(l.Down), time.Duration(l.Milliseconds)*time.Millisecond)
	if l.Outcome != "" {
		text = ", " + l.Outcome + text
	}
	return text
}
