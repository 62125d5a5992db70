package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
)

// readyTime bounds one try of a sandbox; installTime what an installer may take.
const (
	readyTime   = 30 * time.Second
	installTime = 5 * time.Minute
)

func newReady(s Streams) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "ready [--yes]",
		Short: "See whether a sandbox can run here, and add what is missing",
		Long: `ready tries a sandbox without a network and one with the proxy, afresh, and
exits 0 when both run. With --yes it adds what is missing where it can: as root,
or where sudo asks nothing. In a terminal it offers to.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return ready(s, yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "ask nothing, and add what is missing")
	return cmd
}

func ready(s Streams, yes bool) error {
	set, err := readSetting()
	if err != nil {
		return err
	}
	if err := forget(set.dir); err != nil {
		return err
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%s: nothing is enforced on this system yet: run it on Linux", runtime.GOOS)
	}
	if err := readyMaker(s, yes); err != nil {
		return err
	}
	for _, try := range []struct {
		what string
		net  client.NetMode
	}{
		{"a sandbox without a network", client.Closed{}},
		{"a sandbox with the proxy", client.Proxied{Ports: []uint16{}, Proxy: client.Proxy{Upstream: defaultUpstream, Hosts: []string{}, Dir: set.dir}}},
	} {
		if err := tryChain(set, try.net); err != nil {
			fmt.Fprintf(s.Out, "failed   %s\n", try.what)
			return &hinted{fmt.Errorf("%s: %w", try.what, err), hintFor()}
		}
		fmt.Fprintf(s.Out, "ok       %s\n", try.what)
	}
	return nil
}

// readyMaker sees to it that there is something to make sandboxes by: the
// kernel's own calls, else bubblewrap.
func readyMaker(s Streams, yes bool) error {
	if err := kernelMakes(); err == nil {
		fmt.Fprintln(s.Out, "ok       the kernel's own calls: bubblewrap is not needed")
		return nil
	}
	path, err := findBwrap()
	if errors.Is(err, errNoBwrap) {
		fmt.Fprintln(s.Out, "missing  bubblewrap")
		if !yes && !offered(s, "install bubblewrap?") {
			return besides(err)
		}
		if err := installBwrap(s); err != nil {
			return besides(err)
		}
		path, err = findBwrap()
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "ok       bubblewrap (%s)\n", path)
	return nil
}

// forget drops what was found out about this machine before.
func forget(settings string) error {
	err := os.Remove(filepath.Join(settings, "sandbox", "ready.json"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return settingsError(err)
	}
	return nil
}

// errNoBwrap: bubblewrap is not there.
var errNoBwrap = errors.New("bubblewrap is not installed, and this machine needs it: `lnk sandbox ready --yes` installs it, or install the package bubblewrap")

// besides adds to what is wrong with bubblewrap what keeps this machine from
// making sandboxes without it, and often with it too.
func besides(err error) error {
	if why := launch.Hindrance(); why != "" {
		return &hinted{err, why}
	}
	return err
}

// findBwrap is bubblewrap's path, /usr/bin first. A setuid one is refused: it
// has had its own faults as root (CVE-2020-5291, CVE-2026-41163), and nothing
// here needs it.
func findBwrap() (string, error) {
	path := "/usr/bin/bwrap"
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		if path, err = exec.LookPath("bwrap"); err != nil {
			return "", errNoBwrap
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return "", err
	}
	if info.Mode()&os.ModeSetuid != 0 {
		return "", fmt.Errorf("%s: is setuid: take the bit off (chmod u-s %s): nothing here needs it", path, path)
	}
	return path, nil
}

// tryChain runs the whole chain with true(1) inside.
func tryChain(set setting, net client.NetMode) error {
	c := client.Confinement{
		Name: "ready", Write: []string{}, Read: []string{},
		Commands: client.AnyCommand(), Net: client.NetOf(net),
	}
	made, err := chainOf(c, []string{"true"}, set)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, made.argv[0], made.argv[1:]...)
	cmd.Env = scrubbed(os.Environ(), made.env)
	cmd.Dir = "/"
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		if line == "" {
			return err
		}
		return errors.New(strings.TrimPrefix(line, "lnk sandbox "))
	}
	return nil
}

// hintFor says what usually helps with a sandbox that does not start.
func hintFor() string {
	if why := launch.Hindrance(); why != "" {
		return why
	}
	return "in a container, the container must allow user namespaces; the line above says which step failed"
}

func offered(s Streams, question string) bool {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return false
	}
	fmt.Fprintf(s.Out, "%s [y/N] ", question)
	return answeredYes(s.In)
}

// prepared makes sure, before a run, that there is bubblewrap, or that none is
// needed.
func prepared(s Streams, yes, bubblewrap bool) error {
	_, err := findBwrap()
	if err == nil || !bubblewrap && kernelMakes() == nil {
		return nil
	}
	if !errors.Is(err, errNoBwrap) {
		return err
	}
	if !yes {
		return besides(err)
	}
	fmt.Fprintln(s.Err, "lnk sandbox run: bubblewrap is missing: installing it")
	if err := installBwrap(Streams{In: s.In, Out: s.Err, Err: s.Err}); err != nil {
		return besides(err)
	}
	_, err = findBwrap()
	return err
}

// installBwrap installs bubblewrap with apt, as root or by a sudo that asks
// nothing.
func installBwrap(s Streams) error {
	apt, err := ofSystem("apt-get")
	if err != nil {
		return fmt.Errorf("bubblewrap: there is no apt-get here: install the package bubblewrap with this system's own tool")
	}
	var before []string
	if os.Geteuid() != 0 {
		sudo, err := ofSystem("sudo")
		if err != nil || exec.Command(sudo, "-n", "true").Run() != nil {
			return fmt.Errorf("bubblewrap: needs root, and sudo asks for a password: run `sudo apt-get install bubblewrap`")
		}
		before = []string{sudo, "-n"}
	}
	install := append(before, apt, "install", "-y", "--no-install-recommends", "bubblewrap")
	fmt.Fprintf(s.Out, "running  %s\n", strings.Join(install, " "))
	if said, err := quiet(install); err != nil {
		// A fresh machine has no package lists yet.
		if _, err := quiet(append(before, apt, "update")); err != nil {
			return fmt.Errorf("bubblewrap: %s", said)
		}
		if said, err = quiet(install); err != nil {
			return fmt.Errorf("bubblewrap: %s", said)
		}
	}
	return nil
}

// ofSystem gives a program of the system's own folders. PATH is not asked: a
// folder on it may be one that a sandbox wrote.
func ofSystem(name string) (string, error) {
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// quiet runs a command and gives the last line it said.
func quiet(argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), installTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], err
}
