package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/child"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
)

// handoverTime bounds how long the namespace may take to be made.
const handoverTime = 20 * time.Second

// proxyStage is the proxy of one sandbox and the parent of its program: it
// starts the rest of the chain in a network of its own, takes the listeners
// that are opened there, serves them, and ends with the program's status. When
// it dies the way out is gone and the program with it.
func proxyStage(s Streams, args []string) (int, error) {
	return proxyWithEnv(s, args, os.Environ())
}

func proxyWithEnv(s Streams, args, env []string) (int, error) {
	f, wall, err := parseProxyFlags(args)
	if err != nil {
		return statusRefused, err
	}
	if len(wall) == 0 != f.Hold {
		return statusRefused, fmt.Errorf("want -- and the command that it runs, or --hold")
	}
	if env, err = f.take(env); err != nil {
		return statusRefused, err
	}
	f.command = wall
	if f.outside() && len(wall) > 0 {
		f.remove() // the program has no wall around it, and could read them
	} else {
		f.used()
	}
	if f.outside() {
		return proxyOutside(s, f, wall, env)
	}
	if err := stages.Nested(); err != nil {
		return 0, setupFailed(err)
	}
	env = withoutListener(env) // it is closed with the caller's other descriptors
	told := newTeller(s.Err, f)
	way, err := newWay(f, told, "")
	if err != nil {
		return 0, setupFailed(err)
	}
	defer way.Close()
	runtime.LockOSThread() // the parent-death signal is tied to the thread that starts the child (prctl(2))
	child.CloseOnExec()
	if err := way.inward.listen(f.Serve); err != nil {
		return 0, setupFailed(err)
	}

	want := inside.Want{ProxyPort: f.ProxyPort, Ports: f.Ports, To: way.carried(), Sockets: len(f.Serve) > 0}
	self, err := os.Executable()
	if err != nil {
		return 0, setupFailed(err)
	}
	self = stages.Beside(self)
	cmd := exec.Command(self)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// Without a terminal of its own the program is spared the terminal's
	// signals: they reach this process, which passes each on once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !f.Terminal}
	hand, err := inside.Prepare(cmd, want)
	if err != nil {
		return 0, setupFailed(err)
	}
	defer hand.Close()
	cmd.Args = append([]string{self, "proxy-inside"}, want.Flags(hand.FD())...)
	cmd.Args = append(append(cmd.Args, "--"), wall...)
	kept := launch.Keep(f.Terminal)
	signals := child.Hold(f.Terminal)
	defer signals.Stop()
	if err := hand.Start(); err != nil {
		return 0, setupFailed(err)
	}
	if err := f.routed.seal(); err != nil {
		cmd.Process.Kill()
		child.Reap(cmd)
		return 0, setupFailed(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), handoverTime)
	defer cancel()
	listeners, err := hand.Receive(ctx)
	if err != nil {
		status := child.Reap(cmd)
		if status == 0 {
			status = statusSetup
		}
		return status, setupFailed(err)
	}
	way.serve(listeners)
	way.tools.below(cmd.Process.Pid)
	if err := hand.Go(); err != nil {
		cmd.Process.Kill()
		child.Reap(cmd)
		return 0, setupFailed(err)
	}
	way.inward.serve(way.proxy, hand)
	signals.PassTo(cmd.Process.Pid)
	status := child.Reap(cmd)
	kept.Restore(status)
	way.end(status)
	return status, nil
}
