package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// runFlags are what a person grants on the command line, beside a spec.
type runFlags struct {
	spec     specFile
	yes      bool
	write    []string
	dotFiles []string
	read     []string
	hide     []string
	hosts    []string
	tcp      []string
	ports    []uint
	serve    []uint
	models   []uint // ports of model servers on this machine
	terminal bool
	lan      bool
	readHome bool
	tools    bool
	only     []string
	named    []string // tools that run outside
	open     bool
	learn    bool
	secretFlags
	modelFlags
	limits limitFlags
	// bubblewrap makes the sandbox, whatever else could.
	bubblewrap bool
}

func newRun(s Streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] -- <program> [args]",
		Short: "Run a program in a sandbox",
		Long: `run runs a program in a sandbox and exits with its status.

Without --spec and without a grant, the program reads and writes the current
folder and has no network. With one, it has what is granted and no more: give
--write . where it shall work in the current folder too. Each --internet-host
opens one host, each --write and --read one file or folder; all flags of paths,
hosts, ports and names may be given more than once.

Each --secret has the proxy add a secret towards one host: the program gets a
placeholder for it in <NAME> and the address to use in <NAME>_URL, and never the
value. Each --model does the same for a model's API, at the provider's own
variables (OPENAI_BASE_URL and OPENAI_API_KEY), and counts the tokens of its
answers: see lnk sandbox traffic.

With --only, nothing but what it names can be executed, and what that needs to
start: not by the dynamic loader, not as a copy, not from memory. A name with
no slash is looked for on PATH. It names programs and not what they do: a shell
or an interpreter that may be executed runs whatever it is given.`,
		Example: `  lnk sandbox run --yes --write . --internet-host registry.example -- npm install
  lnk sandbox run --spec sandbox.toml -- make test
  lnk sandbox run --write . --secret GITHUB_TOKEN=github.com:authorization:'Basic x:{}' \
    -- git clone https://github.com/owner/private
  lnk sandbox run --write . --model anthropic --model-from anthropic=command:'pass show anthropic' -- ./agent`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return refuse("no program: want `lnk sandbox run [flags] -- <program> [args]`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return run(s, f, args) },
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false)
	fl.BoolVar(&f.yes, "yes", false, "ask nothing; where this machine needs bubblewrap and lacks it, install it if that can be")
	f.grants(fl)
	fl.BoolVar(&f.learn, "learn", false, "let every host of the internet be called, and print at the end the lines that allow what was")
	f.secretFlags.flags(fl)
	f.modelFlags.flags(fl)
	f.limits.define(fl)
	fl.BoolVar(&f.bubblewrap, "bubblewrap", false, "have bubblewrap make the sandbox, as is done where the kernel lets nobody else")
	return cmd
}

// grants are the flags that open something; `why` takes the same.
func (f *runFlags) grants(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.write, "write", nil, "a `path` to read and write: a file or a folder")
	fl.StringArrayVar(&f.read, "read", nil, "a `path` to read")
	fl.StringArrayVar(&f.hosts, "internet-host", nil, "a `host` to reach: name, *.name, name:port")
	fl.Var(&f.spec, "spec", "a `file` that says what is opened: sandbox.toml, or one of JSON")
	fl.StringArrayVar(&f.hide, "hide", nil, "a `path` to close")
	fl.StringArrayVar(&f.dotFiles, "write-dot-files", nil, "a --write `path` whose .git, .envrc, .vscode and .idea may be written")
	fl.BoolVar(&f.readHome, "read-home", false, "read the home folder, but for what holds credentials")
	fl.BoolVar(&f.tools, "developer-tools", false, "read toolchains kept in the home folder, and let its processes trace each other")
	fl.StringArrayVar(&f.only, "only", nil, "a `program` that may be executed, or a folder of programs; no other can, then")
	fl.StringArrayVar(&f.tcp, "tcp", nil, "a `host:port` to reach with any protocol")
	fl.UintSliceVar(&f.ports, "port", nil, "a `port` of this machine's loopback to reach")
	fl.UintSliceVar(&f.serve, "serve", nil, "a `port` inside to serve on this machine's loopback")
	fl.BoolVar(&f.lan, "lan", false, "addresses that are not the internet's too")
	fl.UintSliceVar(&f.models, "local-model", nil, "the `port` of a model server on this machine; its address is in LNK_LOCAL_MODEL_<port>")
	fl.StringArrayVar(&f.named, "tool", nil, "the `name` of a tool that runs outside, as lnk sandbox tool add has added it")
	fl.BoolVar(&f.open, "open", false, "have pages opened in this machine's browser, each asked about")
	fl.BoolVar(&f.terminal, "terminal", true, "run it on this terminal, with job control and /dev/tty; --terminal=false has it read and write there, and no more")
}

func run(s Streams, f runFlags, argv []string) error {
	status, err := runProgram(s, f, argv)
	if err != nil {
		return f.wayAsTyped(err)
	}
	if status != 0 {
		return silentStatus(status)
	}
	return nil
}

func runProgram(s Streams, f runFlags, argv []string) (int, error) {
	set, err := readSetting()
	if err != nil {
		return 0, err
	}
	set.tell, set.hand, set.learn, set.bubblewrap = true, true, f.learn, f.bubblewrap
	if set.limits, err = f.limited(); err != nil {
		return 0, err
	}
	with, err := f.readGiven()
	if err != nil {
		return 0, err
	}
	c, err := confinementOf(f, set, onTerminal())
	if err != nil {
		return 0, err
	}
	for _, path := range f.hide {
		if _, err := os.Lstat(atHome(path)); errors.Is(err, fs.ErrNotExist) {
			complainLine(s.Err, "run", fmt.Sprintf("--hide %s: not there, so that nothing is hidden: see that it is spelled right", path))
		}
	}
	base, err := set.base("/", c.Name)
	if err != nil {
		return 0, err
	}
	if c, err = with.into(c, base.Sockets); err != nil {
		return 0, err
	}
	if err := f.secretsOutOfView(c, set); err != nil {
		return 0, err
	}
	if f.learn {
		if err := checkLearn(c); err != nil {
			return 0, err
		}
		complainLine(s.Err, "run", learnOpens)
	}
	made, err := chainOf(c, argv, set)
	if err != nil {
		return 0, err
	}
	if made.env, err = with.environment(made.env); err != nil {
		return 0, err
	}
	if !f.yes {
		if err := confirm(s, append(opened(c), limitLine(set.limits)), argv); err != nil {
			return 0, err
		}
	}
	if err := prepared(s, f.yes, f.bubblewrap); err != nil {
		return 0, err
	}
	if err := made.writeFiles(); err != nil {
		return 0, err
	}
	defer made.removeFiles()
	// The first stage of the chain is this process itself.
	env := scrubbed(os.Environ(), made.env, slices.Concat(c.Read, c.Write)...)
	if home, err := homeFolder(); err == nil {
		env = withShell(env, c, home)
	}
	for _, line := range notTrusted(c, os.Environ(), made.env) {
		complainLine(s.Err, "run", line)
	}
	if err := made.handOver(); err != nil {
		return 0, err
	}
	hearInterrupts(c.Terminal)
	status, err := stageWithEnv(s, made.argv[1], made.argv[2:], env)
	if err != nil && status != 0 {
		err = withStatus(status, err)
	}
	return status, err
}

// onTerminal is whether the program is started on a terminal: what is piped into a
// pager or asks for a password has it on its output alone.
func onTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) || term.IsTerminal(int(os.Stdout.Fd()))
}

// confirm shows what the sandbox opens and asks once. Nobody to ask is a no.
func confirm(s Streams, opens []string, argv []string) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return refuse("nothing is run unasked: give --yes, or run it in a terminal")
	}
	fmt.Fprintf(s.Err, "lnk sandbox run: %s\n", oneLine(strings.Join(argv, " ")))
	for _, line := range opens {
		if line == "" {
			continue
		}
		fmt.Fprintf(s.Err, "  %s\n", oneLine(line))
	}
	fmt.Fprint(s.Err, "run it so? [y/N] ")
	if answeredYes(s.In) {
		return nil
	}
	return refuse("not run: the answer was no")
}
