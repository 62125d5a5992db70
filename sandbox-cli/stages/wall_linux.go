package stages

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/limits"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/seccomp"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/stubs"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/written"
)

func wall(s say.Streams, args []string) (int, error) { return Wall(s, args, os.Environ()) }

// Wall plans the wall on this machine, starts the program behind it with env,
// and stays until all of it is gone.
func Wall(s say.Streams, args, env []string) (status int, err error) {
	args, scopedEnv, err := scopedWall(args)
	if err != nil {
		return say.StatusSetup, err
	}
	f, err := parseWallFlags(args)
	if err != nil {
		return say.StatusSetup, err
	}
	if scopedEnv != nil {
		env = scopedEnv
	} else if f.limits.Any() {
		scope(f.limits, args, env)
	}
	if f.printBwrap {
		plan, err := f.plan(linuxwall.Bubblewrap, env)
		if err != nil {
			return say.StatusSetup, err
		}
		return 0, printBwrap(s.Out, plan)
	}
	if err := f.stopped(); err != nil {
		return say.StatusSetup, err
	}
	if _, err := stubs.NewStore(stubsIn(f.settings)).Sweep(); err != nil {
		return say.StatusSetup, err
	}
	group := limit(s, f.limits, f.c.Commands)
	defer func() { err = errors.Join(err, unlimit(s, group)) }()
	if f.bubblewrap {
		return f.attempt(s, linuxwall.Bubblewrap, group, env)
	}
	status, err = f.attempt(s, linuxwall.Kernel, group, env)
	if !errors.Is(err, direct.ErrUnavailable) {
		return status, err
	}
	// A machine that lets bubblewrap alone make namespaces, or an old kernel.
	status, other := f.attempt(s, linuxwall.Bubblewrap, group, env)
	var refused *linuxwall.Refusal
	if errors.As(other, &refused) && refused.Member == "bubblewrap" {
		return status, fmt.Errorf("%w; nor can bubblewrap: %w", err, other)
	}
	return status, other
}

// attempt plans the wall and carries it out. What was looked at can change until
// it is opened: another run ends and takes its stubs with it, or somebody makes
// a file. Then it looks again.
func (f wallFlags) attempt(s say.Streams, by linuxwall.Maker, group *limits.Group, env []string) (int, error) {
	for attempt := 1; ; attempt++ {
		plan, err := f.plan(by, env)
		if err != nil {
			return say.StatusSetup, err
		}
		status, err := carryOut(s, plan, f.settings, group, withNames(env, f.names))
		if !errors.Is(err, linuxwall.ErrChanged) || attempt == maxAttempts {
			return status, err
		}
	}
}

// maxAttempts bounds how often a start looks again at what changes under it.
const maxAttempts = 10

// wallFlags is what the wall stage is told: where the settings and the home
// are, then what [linuxwall.Args] writes.
type wallFlags struct {
	settings, home string
	printBwrap     bool
	bubblewrap     bool     // have the sandbox made by it
	names          []string // of tools that run outside
	limits         client.Limits
	c              client.Confinement
	net            linuxwall.NetFrom
	argv           []string
}

func parseWallFlags(args []string) (f wallFlags, err error) {
	if len(args) > 0 && args[0] == "--print-bwrap" {
		f.printBwrap, args = true, args[1:]
	}
	if len(args) < 4 || args[0] != "--settings" || args[2] != "--home" {
		return f, errors.New("want --settings <dir> --home <dir> first: this stage is started by lnk sandbox, not by hand")
	}
	f.settings, f.home = args[1], args[3]
	for _, dir := range []string{f.settings, f.home} {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
			return f, fmt.Errorf("%q: want an absolute, clean path", dir)
		}
	}
	f.bubblewrap, args = parseMaker(args[4:])
	limits, rest, err := parseLimits(args)
	if err != nil {
		return f, err
	}
	f.limits = limits
	f.names, rest = parseNames(rest)
	f.c, f.net, f.argv, err = linuxwall.ParseArgs(rest)
	return f, err
}

// stopped refuses what cannot be stopped once it runs: this machine's own
// network has no wire of ours, so under a stop it is not begun. A flag that
// cannot be looked at is a stop.
func (f wallFlags) stopped() error {
	if f.net != linuxwall.Machine {
		return nil
	}
	_, err := os.Lstat(client.SettingsFolder(f.settings).Stopped())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.New("every wire is stopped, and this machine's own network cannot be cut off from a program: to open them again: lnk sandbox start")
}

func (f wallFlags) plan(by linuxwall.Maker, env []string) (linuxwall.Plan, error) {
	facts, err := linuxwall.ReadFacts(f.c, f.net, by, FactEnv(env, f.home, f.settings))
	if err != nil {
		return linuxwall.Plan{}, err
	}
	plan, err := linuxwall.PlanFor(f.c, f.net, facts, f.argv)
	if err == nil && len(f.names) > 0 {
		err = plan.Offer(f.names...)
	}
	plan.LimitTmp(f.limits.Tmp)
	return plan, err
}

func stubsIn(settings string) string { return filepath.Join(settings, "sandbox", "stubs") }

// carryOut does what the plan says, and undoes what must not outlive it. Its
// error is [linuxwall.ErrChanged] where nothing was started because something
// is no longer what the plan was made for.
func carryOut(s say.Streams, plan linuxwall.Plan, settings string, group *limits.Group, env []string) (status int, err error) {
	filter, err := seccomp.Program(seccomp.Options{Trace: plan.DeveloperTools, NoMemfd: plan.Run != nil})
	if err != nil {
		return say.StatusSetup, err
	}
	for _, folder := range plan.Make {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return say.StatusSetup, fmt.Errorf("settings: %w", err)
		}
	}
	var after aftermath
	dir := stubsIn(settings)
	held, err := stubs.NewStore(dir).Hold(plan.Wants())
	if errors.Is(err, stubs.ErrMoved) {
		err = fmt.Errorf("%w: %w", linuxwall.ErrChanged, err)
	}
	if err != nil {
		return say.StatusSetup, err
	}
	defer func() {
		report, releaseErr := held.Release()
		for _, path := range report.Taken {
			say.ComplainLine(s.Err, "run", path+": something was put there from outside while the sandbox ran: look at it before you use it")
		}
		if after.below.Roots != nil && ran(err) {
			after.tell(s, report.Taken)
		}
		err = errors.Join(err, releaseErr)
	}()
	if taken := held.Taken(); len(taken) > 0 {
		return say.StatusSetup, fmt.Errorf("%s: %w", taken[0], linuxwall.ErrChanged)
	}
	watch := watchOver(dir, held, dirs(group))
	defer watch.end()
	opened := &linuxwall.Opened{}
	if plan.By == linuxwall.Bubblewrap {
		if opened, err = linuxwall.Open(&plan); err != nil {
			return say.StatusSetup, err
		}
	}
	if missing := landlock.Closable().Missing(); missing != "" && plan.Net == linuxwall.Machine {
		// In a network of its own a program sees no abstract socket of others,
		// and no process of theirs in any sandbox.
		say.ComplainLine(s.Err, "run", missing)
	}
	// Before the program is there, so that it cannot be forgotten.
	if err := written.Keep(filepath.Dir(dir), plan.Written, plan.Writes); err != nil {
		opened.Close()
		return say.StatusSetup, err
	}
	for _, w := range plan.Warnings {
		say.ComplainLine(s.Err, "run", w)
	}
	after = beforeProgram(&plan, settings)
	return start(plan, opened, held, watch, group, filter, env)
}

// start starts the program behind the plan's mounts and gives its status.
func start(plan linuxwall.Plan, opened *linuxwall.Opened, held *stubs.Held, watch *watch, group *limits.Group, filter []byte, env []string) (int, error) {
	defer opened.Close()
	spec := launch.Spec{
		Seccomp: filter, SyncFile: held.File(), Before: watch.there, Mounts: coversStay(&plan),
		Argv: plan.Argv, Env: env, Terminal: plan.Terminal,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	bound(&spec, group)
	if plan.By == linuxwall.Kernel {
		spec.Direct = &direct.Sandbox{
			Steps: plan.Steps, NoExec: plan.Orders, Run: plan.Run,
			OwnNet: plan.Net == linuxwall.Own, HostName: linuxwall.HostName, Dir: plan.Dir,
		}
	} else if err := byBubblewrap(&spec, plan, opened); err != nil {
		return say.StatusSetup, err
	}
	status, err := launch.Run(spec)
	if errors.Is(err, launch.ErrChanged) {
		err = fmt.Errorf("%w: %w", linuxwall.ErrChanged, err)
	}
	return status, changedMeanwhile(&plan, err)
}
