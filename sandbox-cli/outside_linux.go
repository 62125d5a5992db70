package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/child"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// proxyOutside is a proxy that makes no network: it is called on this machine's
// loopback, by a program with no wall or by what it is pointed out to.
func proxyOutside(s Streams, f proxyFlags, argv, env []string) (int, error) {
	listener, env, err := listenerOf(*f.Listen, env)
	if err != nil {
		return 0, setupFailed(err)
	}
	defer listener.Close()
	secret, err := secretOf(f.PointedBy, env)
	if err != nil {
		return statusRefused, err
	}
	told := newTeller(s.Err, f)
	way, err := newWay(f, told, secret)
	if err != nil {
		return 0, setupFailed(err)
	}
	defer way.Close()
	go way.proxy.Serve(listener)
	if *f.Listen == 0 {
		env = filled(env, uint16(listener.Addr().(*net.TCPAddr).Port))
	}
	status, err := runAsItIs(argv, env)
	way.end(status)
	return status, err
}

// listenerOf is the proxy's listener: the one that the caller holds and handed
// on, or one that is made. The environment that it gives does not name it.
func listenerOf(port uint16, env []string) (net.Listener, []string, error) {
	prefix := client.ListenerVariable + "="
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, prefix) })
	if at < 0 {
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return nil, nil, fmt.Errorf("listen: port %d: %w: something on this machine has it: end that, or listen on another", port, plain(err))
		}
		return l, env, nil
	}
	l, err := heldListener(strings.TrimPrefix(env[at], prefix), port)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", client.ListenerVariable, err)
	}
	return l, slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, prefix) }), nil
}

func plain(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}

// minSecret bounds how short the secret of a proxy on loopback may be, in bytes:
// anybody on this machine may try it.
const minSecret = 16

// secretOf is what the proxy asks of every call: what the variable's address
// carries. Where no program is pointed at it, nobody knows it, and only routes
// are answered.
func secretOf(variable string, env []string) (string, error) {
	if variable == "" {
		return rand.Text(), nil
	}
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, variable+"=") })
	if at < 0 {
		return "", fmt.Errorf("--pointed-by %s: it is not in the environment: start the command with what wrap printed", variable)
	}
	u, err := url.Parse(strings.TrimPrefix(env[at], variable+"="))
	if err != nil || u.User == nil {
		return "", fmt.Errorf("--pointed-by %s: it holds no address with a secret: start the command with what wrap printed", variable)
	}
	secret, _ := u.User.Password()
	if len(secret) < minSecret {
		return "", fmt.Errorf("--pointed-by %s: its secret is shorter than %d", variable, minSecret)
	}
	return secret, nil
}

// runAsItIs runs a command with no wall and gives its status. It is in our
// process group, as if we were not there, and ends when we do.
func runAsItIs(argv, env []string) (int, error) {
	path, err := lookUp(argv[0], env)
	if err != nil {
		return statusOf(err), err
	}
	runtime.LockOSThread() // the parent-death signal is tied to the thread that starts the child (prctl(2))
	cmd := exec.Command(path)
	cmd.Args, cmd.Env = argv, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	signals := child.Hold(term.IsTerminal(int(os.Stdin.Fd())))
	defer signals.Stop()
	if err := cmd.Start(); err != nil {
		err = withStatus(statusCannotRun, fmt.Errorf("%s: %w", argv[0], plain(err)))
		return statusOf(err), err
	}
	signals.PassTo(cmd.Process.Pid)
	return child.Reap(cmd), nil
}

// lookUp finds a program on the PATH of an environment, as execvp(3) does.
func lookUp(name string, env []string) (string, error) {
	path := ""
	for _, v := range env {
		if value, is := strings.CutPrefix(v, "PATH="); is {
			path = value
		}
	}
	tried := []string{name}
	if !strings.Contains(name, "/") {
		tried = nil
		for dir := range strings.SplitSeq(path, ":") {
			tried = append(tried, cmp.Or(dir, ".")+"/"+name)
		}
	}
	found := false
	for _, at := range tried {
		info, err := os.Stat(at)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			found = true
		case err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0:
			return at, nil
		case err == nil:
			found = true
		}
	}
	if found {
		return "", withStatus(statusCannotRun, fmt.Errorf("%s: it cannot be executed", name))
	}
	return "", withStatus(statusNotFound, fmt.Errorf("%s: not found", name))
}
