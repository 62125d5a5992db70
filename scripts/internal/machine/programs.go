package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Program is one that the tests call, and the packages, one space apart, that
// bring it and what it cannot do without.
type Program struct{ Name, Package, Why string }

// Needed are the programs that the tests call. A sandbox is shown to hold real
// programs, so they are real ones.
var Needed = []Program{
	{"bwrap", "bubblewrap", "the wall"},
	{"bash", "bash", "a shell with job control inside"},
	{"curl", "curl", "calls out, by proxy and without"},
	{"gcc", "gcc libc6-dev", "the race detector"},
	{"gdb", "gdb", "a debugger inside, where developer tools are let work"},
	{"git", "git", "dot files, hooks, fetching"},
	{"ip", "iproute2", "the networks that tests make"},
	{"jq", "jq", "the JSON that other programs read"},
	{"less", "less", "a pager on a sandbox's terminal"},
	{"make", "make", "real work inside"},
	{"nft", "nftables", "reads back the rules that were set"},
	{"node", "nodejs", "calls out, as node does"},
	{"perl", "perl-base", "calls out, without a proxy"},
	{"python3", "python3", "calls out, as python does"},
	{"/usr/lib/python3/dist-packages/aiohttp/__init__.py", "python3-aiohttp", "calls out, with WebSockets"},
	{"/usr/lib/python3/dist-packages/requests/__init__.py", "python3-requests", "calls out, as scripts do"},
	{"/usr/lib/python3/dist-packages/grpc/__init__.py", "python3-grpcio", "calls out by gRPC, in streams too"},
	{"ps", "procps", "what is left running"},
	{"setpriv", "util-linux", "another user, fewer capabilities"},
	{"strace", "strace", "a tracer inside, where developer tools are let work"},
	{"ssh", "openssh-client", "calls out to a named port"},
	{"sshd", "openssh-server", "what ssh calls"},
	{"tmux", "tmux", "a terminal in a sandbox's terminal"},
	{"unshare", "util-linux", "namespaces of the tests' own"},
	{"wget", "wget", "calls out, as scripts do"},
	{"useradd", "passwd", "the ordinary user"},
	{"vi", "vim-tiny", "an editor on a sandbox's terminal, which stops itself"},
}

// ordinaryPath is where programs are looked for: what is found elsewhere, in
// somebody's home folder say, an ordinary user does not have.
const ordinaryPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// installTime bounds what apt may take: it waits for its lock and the network.
const installTime = 10 * time.Minute

// find looks a program up on a path, or a file where it is said to be.
func find(name, path string) bool {
	if filepath.IsAbs(name) {
		info, err := os.Stat(name)
		return err == nil && info.Mode().IsRegular()
	}
	for _, dir := range filepath.SplitList(path) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// Missing gives those of the programs that are not on a path.
func Missing(programs []Program, path string) []Program {
	return slices.DeleteFunc(slices.Clone(programs), func(p Program) bool { return find(p.Name, path) })
}

// packagesOf gives the packages of the programs, each once.
func packagesOf(programs []Program) []string {
	var packages []string
	for _, p := range programs {
		packages = append(packages, strings.Fields(p.Package)...)
	}
	return slices.Compact(slices.Sorted(slices.Values(packages)))
}

// Install installs what is missing of the needed programs and says so on out.
// What cannot be installed is an error that names it.
func Install(ctx context.Context, out io.Writer) error { return install(ctx, out, Needed) }

func install(ctx context.Context, out io.Writer, needed []Program) error {
	missing := Missing(needed, ordinaryPath)
	if len(missing) == 0 {
		fmt.Fprintf(out, "%d programs are here\n", len(needed))
		return nil
	}
	for _, p := range missing {
		fmt.Fprintf(out, "missing: %s, for: %s\n", p.Name, p.Why)
	}
	apt, err := aptGet()
	if err != nil {
		return fmt.Errorf("install %s: %w", strings.Join(packagesOf(missing), " "), err)
	}
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	packages := append([]string{"install", "-q", "-y", "--no-install-recommends"}, packagesOf(missing)...)
	for _, args := range [][]string{{"update", "-q"}, packages} {
		argv := append(slices.Clone(apt), args...)
		fmt.Fprintf(out, "$ %s\n", strings.Join(argv, " "))
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil && args[0] == "install" {
			return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		} else if err != nil {
			// One list of many may be out of reach; what was there before may do.
			fmt.Fprintf(out, "%s: %v: going on with the lists that are here\n", strings.Join(argv, " "), err)
		}
	}
	if still := Missing(needed, ordinaryPath); len(still) > 0 {
		return fmt.Errorf("%s: installed, and %s still not found", still[0].Package, still[0].Name)
	}
	return nil
}

// aptGet gives the start of an apt-get command that may install.
func aptGet() ([]string, error) {
	if !find("apt-get", ordinaryPath) {
		return nil, errors.New("there is no apt-get here: install it by hand")
	}
	if os.Geteuid() == 0 {
		return []string{"apt-get"}, nil
	}
	if exec.Command("sudo", "-n", "true").Run() != nil {
		return nil, errors.New("not root, and sudo asks for a password: install it by hand, or run this as root")
	}
	return []string{"sudo", "-n", "--preserve-env=DEBIAN_FRONTEND", "apt-get"}, nil
}
