package stages

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
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
	return wallOf(nil, nil, s, args, env)
}

// beginWall begins a sandbox of the wall's arguments, for who has something else
// to do before the wall; nil is none.
func beginWall(args []string) *launch.Begun {
	f, err := parseWallFlags(args)
	if err != nil || f.bubblewrap || f.printBwrap || f.limits.Any() {
		return nil
	}
	return launch.Begin(f.early())
}

// wallOf is [Wall], with a sandbox that may be begun already. Where its network
// is handed out to the proxy it is made so, by the kernel's own calls and at
// once, or not at all.
func wallOf(begun *launch.Begun, hand *inside.Hand, s say.Streams, args, env []string) (status int, err error) {
	defer func() { begun.GiveUp() }()
	if err := errors.Join(Nested(), Umask()); err != nil {
		return say.StatusSetup, err
	}
	args, scopedEnv, err := scopedWall(args)
	if err != nil {
		return say.StatusSetup, err
	}
	f, err := parseWallFlags(args)
	if err != nil {
		return say.StatusSetup, err
	}
	if hand != nil {
		f.net = linuxwall.Handed
	}
	if scopedEnv != nil {
		env = scopedEnv
	} else if f.limits.Any() {
		scope(f.limits, args, env)
	}
	env = withoutEmptyProxy(env)
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
	// Its namespaces take the kernel a while: meanwhile this machine is looked at.
	if begun == nil && !f.bubblewrap {
		begun = launch.Begin(f.early())
	}
	watch, err := newWatch()
	if err != nil {
		return say.StatusSetup, err
	}
	defer watch.end()
	if _, err := stubs.NewStore(stubsIn(f.settings)).Sweep(); err != nil {
		return say.StatusSetup, err
	}
	w := walling{wallFlags: f, Streams: s, env: withNames(env, f.names), watch: watch, group: limit(s, f.limits, f.c.Commands), hand: hand}
	defer func() { err = errors.Join(err, w.unlimit()) }()
	if f.bubblewrap {
		return w.attempt(nil)
	}
	status, err = w.attempt(begun)
	if !errors.Is(err, direct.ErrUnavailable) || hand != nil {
		return status, err
	}
	// A machine that lets bubblewrap alone make namespaces, or an old kernel.
	status, other := w.attempt(nil)
	var refused *linuxwall.Refusal
	if errors.As(other, &refused) && refused.Member == "bubblewrap" {
		need := ""
		if errors.Is(err, syscall.ENOSYS) {
			need = "; it takes Linux 5.12 or later, or bubblewrap 0.6 or later"
		}
		return status, fmt.Errorf("%w; nor can bubblewrap: %w%s", err, other, need)
	}
	return status, other
}

// A walling is one run of the stage.
type walling struct {
	wallFlags
	say.Streams
	env    []string // the program's
	watch  *watch
	group  *limits.Group // nil is no limits
	room   *limits.Room  // nil is none that is bounded
	hand   *inside.Hand  // nil is a network that is handed to nobody
	toTell []string      // what is told at a start
	told   []string      // warnings, of which an attempt after another says none again
}

// before is the last there is to do before the program.
func (w *walling) before() error {
	if err := w.watch.there(); err != nil || w.hand == nil {
		return err
	}
	w.tell()
	return w.hand.Starting()
}

// tell tells what is told at a start, each line once.
func (w *walling) tell() {
	for _, warning := range w.toTell {
		if !slices.Contains(w.told, warning) {
			say.ComplainLine(w.Err, "run", warning)
			w.told = append(w.told, warning)
		}
	}
}

// attempt plans the wall and carries it out, by the kernel's own calls where a
// sandbox was begun so. What was looked at can change until it is opened: another
// run ends and takes its stubs with it, or somebody makes a file. Then it looks
// again.
func (w *walling) attempt(begun *launch.Begun) (int, error) {
	by := linuxwall.Bubblewrap
	if begun != nil {
		by = linuxwall.Kernel
	}
	for attempt := 1; ; attempt++ {
		plan, err := w.plan(by, w.env)
		if err != nil {
			return say.StatusSetup, err
		}
		run := launch.Run
		if begun != nil {
			run = begun.Run
		}
		status, err := w.carryOut(plan, run)
		if !errors.Is(err, linuxwall.ErrChanged) || attempt == maxAttempts || w.hand != nil {
			return status, err
		}
		if begun != nil {
			begun.GiveUp()
			w.given = nil // it was for that one
			begun = launch.Begin(w.early())
			defer begun.GiveUp()
		}
	}
}

// early is what is known before this machine is looked at.
func (f wallFlags) early() launch.Early {
	return launch.Early{
		Terminal: f.c.Terminal, OwnNet: f.net == linuxwall.Own, HostName: linuxwall.HostName, Apart: f.limits.Memory > 0,
		Stdin: input(), Stdout: os.Stdout, Stderr: os.Stderr,
	}
}

// scriptOf is the shell whose script our standard input is, or "".
var scriptOf = sync.OnceValue(func() string { return launch.ScriptOf(os.Stdin) })

// input is the program's standard input: none where it is a shell's script.
func input() *os.File {
	if scriptOf() != "" {
		return nil
	}
	return os.Stdin
}

// inputWarning says why the program has none, or nothing.
func inputWarning() []string {
	if scriptOf() == "" {
		return nil
	}
	return []string{fmt.Sprintf("standard input is the script that %s reads, which would go on wherever the program left it: the program gets /dev/null instead; give it a file, or a pipe of its own", say.OneLine(scriptOf()))}
}

// maxAttempts bounds how often a start looks again at what changes under it.
const maxAttempts = 10

// wallFlags is what the wall stage is told: where the settings and the home
// are, then what [linuxwall.Args] writes.
type wallFlags struct {
	settings, home string
	given          direct.Given // /etc as others see it, from who started us; nil is none
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
	if f.given, args, err = parseGiven(args); err != nil {
		return f, err
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
	plan, err := linuxwall.PlanHere(direct.System(f.given), f.c, f.net, by, FactEnv(env, f.home, f.settings), f.argv)
	if err == nil && len(f.names) > 0 {
		err = plan.Offer(f.names...)
	}
	plan.LimitTmp(f.limits.Tmp)
	return plan, err
}

func stubsIn(settings string) string { return filepath.Join(settings, "sandbox", "stubs") }

// filter is what is closed for a plan, on a kernel that closes as much itself.
func (w *walling) filter(plan *linuxwall.Plan, kernel landlock.Scoped) seccomp.Options {
	return seccomp.Options{
		Trace: plan.DeveloperTools, NoMemfd: plan.Run != nil, NoGroupSignal: w.c.Terminal && !kernel.Signals,
		UID: uint32(plan.UID), GID: uint32(os.Getegid()),
	}
}

// carryOut does what the plan says, and undoes what must not outlive it. Its
// error is [linuxwall.ErrChanged] where nothing was started because something
// is no longer what the plan was made for.
func (w *walling) carryOut(plan linuxwall.Plan, run func(launch.Spec) (int, error)) (status int, err error) {
	filter, err := seccomp.Program(w.filter(&plan, landlock.Closable()))
	if err != nil {
		return say.StatusSetup, err
	}
	for _, folder := range plan.Make {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return say.StatusSetup, &stubs.StoreError{Path: folder, Err: err}
		}
	}
	var after aftermath
	dir := stubsIn(w.settings)
	held, err := stubs.NewStore(dir).Hold(plan.Wants())
	if errors.Is(err, stubs.ErrMoved) {
		err = fmt.Errorf("%w: %w", linuxwall.ErrChanged, err)
	}
	if err != nil {
		return say.StatusSetup, err
	}
	defer func() {
		if ran(err) {
			w.watch.unneeded()
		}
		report, releaseErr := held.Release()
		for _, path := range report.Taken {
			say.ComplainLine(w.Err, "run", path+": something was put there from outside while the sandbox ran: look at it before you use it")
		}
		if (after.below.Roots != nil || after.opened != nil) && ran(err) {
			after.tell(w.Streams, report.Taken)
		}
		if releaseErr != nil && ran(err) {
			// The status is the program's, whatever is left.
			say.Complain(w.Err, "run", releaseErr)
			return
		}
		err = errors.Join(err, releaseErr)
	}()
	if taken := held.Taken(); len(taken) > 0 {
		return say.StatusSetup, fmt.Errorf("%s: %w", taken[0], linuxwall.ErrChanged)
	}
	if err := w.watch.over(dir, held.Record(), dirs(w.group)); err != nil {
		return say.StatusSetup, err
	}
	opened := &linuxwall.Opened{}
	if plan.By == linuxwall.Bubblewrap {
		if opened, err = linuxwall.Open(&plan); err != nil {
			return say.StatusSetup, err
		}
	}
	warnings := append(inputWarning(), plan.Warnings...)
	if missing := landlock.Closable().Missing(); missing != "" && plan.Net == linuxwall.Machine {
		// In a network of its own a program sees no abstract socket of others,
		// and no process of theirs in any sandbox.
		warnings = append(warnings, missing)
	}
	// Before the program is there, so that it cannot be forgotten.
	if err := written.Keep(filepath.Dir(dir), plan.Written, plan.Writes); err != nil {
		opened.Close()
		return say.StatusSetup, err
	}
	w.toTell = warnings
	if w.hand == nil {
		w.tell() // elsewhere, when it is known that another process does not do it all again
	}
	after = beforeProgram(&plan, w.settings)
	spec := launch.Spec{
		Seccomp: filter, SyncFile: held.File(), Before: w.before, Mounts: coversStay(&plan), Held: plan.Held(),
		Argv: plan.Argv, Env: plan.Environ(w.env), Early: w.early(),
	}
	w.bound(&spec, &plan)
	status, err = start(plan, w.given, opened, spec, run)
	if !otherwise(err) {
		w.tell()
	}
	return status, err
}

// start starts the program behind the plan's mounts and gives its status.
func start(plan linuxwall.Plan, given direct.Given, opened *linuxwall.Opened, spec launch.Spec, run func(launch.Spec) (int, error)) (int, error) {
	defer opened.Close()
	if plan.By == linuxwall.Kernel {
		spec.Direct = &direct.Sandbox{
			Steps: plan.Steps, NoExec: plan.Orders, Run: plan.Run, Dir: plan.Dir, Given: given,
		}
	} else if err := byBubblewrap(&spec, plan, opened); err != nil {
		return say.StatusSetup, err
	}
	status, err := run(spec)
	if errors.Is(err, launch.ErrChanged) {
		err = fmt.Errorf("%w: %w", linuxwall.ErrChanged, err)
	}
	return status, changedMeanwhile(&plan, err)
}
