package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	var help proxyHelp
	if errors.As(err, &help) {
		_, err = io.WriteString(s.Out, help.Error())
		return 0, err
	}
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
	if err := errors.Join(stages.Nested(), stages.Umask()); err != nil {
		return 0, setupFailed(err)
	}
	self, err := os.Executable()
	if err != nil {
		return 0, setupFailed(err)
	}
	child.CloseOnExec()
	b := behind{
		f: f, self: stages.Beside(self), wall: wall,
		env:  withoutListener(env), // it is closed with the caller's other descriptors
		told: newTeller(s.Err, f),
	}
	b.kept, b.signals = launch.Keep(f.Terminal), child.Hold(f.Terminal)
	defer b.signals.Stop()
	if len(f.Serve) == 0 && stages.HandsOut(b.self, wall) {
		status, err := b.run(b.startHanded)
		if !errors.Is(err, inside.ErrOtherwise) {
			return status, err
		}
	}
	return b.run(b.start)
}

// behind is what stands behind the proxy: the command that makes the network,
// and the program in it.
type behind struct {
	f       proxyFlags
	self    string // what runs the steps behind the proxy
	wall    []string
	env     []string
	told    *teller
	kept    *launch.Kept
	signals *child.Signals

	cmd  *exec.Cmd
	hand *inside.Handover
	way  *way
}

// run is the life of the proxy: it ends with the program's status. begin starts
// the command and makes the way.
func (b *behind) run(begin func() error) (int, error) {
	defer func() {
		if b.hand != nil {
			b.hand.Close()
		}
		if b.way != nil {
			b.way.Close()
		}
	}()
	b.cmd, b.hand, b.way = nil, nil, nil
	if err := begin(); err != nil {
		return b.failed(err)
	}
	if err := b.f.routed.seal(); err != nil {
		return b.failed(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), handoverTime)
	defer cancel()
	listeners, err := b.hand.Receive(ctx)
	if err == nil {
		b.way.listeners = listeners
		err = b.hand.Starting()
	}
	if err != nil {
		b.signals.PassTo(0)
		return b.gone(err)
	}
	b.way.serve(listeners)
	b.way.tools.below(b.cmd.Process.Pid)
	if err := b.hand.Go(); err != nil {
		return b.failed(err)
	}
	b.way.inward.serve(b.way.proxy, b.hand)
	b.signals.PassTo(b.cmd.Process.Pid)
	status := child.Reap(b.cmd)
	b.kept.Restore(status)
	b.way.end(status)
	return status, nil
}

// failed ends what was started, for what went wrong here.
func (b *behind) failed(err error) (int, error) {
	if b.cmd != nil && b.cmd.Process != nil {
		b.cmd.Process.Kill()
		child.Reap(b.cmd)
	}
	return 0, setupFailed(err)
}

// gone waits for the end of what did not hand over what it should have.
func (b *behind) gone(err error) (int, error) {
	b.hand.Close()
	status := child.Reap(b.cmd)
	switch {
	case status == 0:
		status = statusSetup
	case b.cmd.Args[1] == stepHanded && errors.Is(err, inside.ErrGone),
		errors.Is(err, inside.ErrOtherwise) && status != statusSetup:
		return status, nil // it has said why, or was ended
	}
	return status, setupFailed(err)
}

// The step that makes the network in it, and the one that has it made outside.
const (
	stepInside = "proxy-inside"
	stepHanded = "handed"
)

// start makes the way, and has the network made by a process in it, which then
// becomes the wall.
func (b *behind) start() (err error) {
	if err := b.newWay(); err != nil {
		return err
	}
	want := b.f.network()
	want.To = b.way.carried()
	return b.command(stepInside, want, inside.Prepare)
}

// startHanded has the wall make the network, and makes the way meanwhile.
func (b *behind) startHanded() error {
	want := b.f.network()
	if err := b.command(stepHanded, want, inside.PrepareHanded); err != nil {
		return err
	}
	b.signals.PassTo(b.cmd.Process.Pid) // what it takes depends on what there is to look at
	if err := b.newWay(); err != nil {
		return err
	}
	want.To = b.way.carried()
	b.hand.To(want)
	return nil
}

func (b *behind) newWay() error {
	way, err := newWay(b.f, b.told, "")
	if err != nil {
		return err
	}
	b.way = way
	return way.inward.listen(b.f.Serve)
}

// command starts a step that ends in the wall.
func (b *behind) command(step string, want inside.Want, prepare func(*exec.Cmd, inside.Want) (*inside.Handover, error)) error {
	cmd := exec.Command(b.self)
	cmd.Env = b.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// Without a terminal of its own the program is spared the terminal's
	// signals: they reach this process, which passes each on once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !b.f.Terminal}
	wall := b.wall
	if step == stepInside {
		var etc *os.File
		if etc, wall = stages.Give(b.self, b.wall, 3); etc != nil {
			defer etc.Close()
			cmd.ExtraFiles = []*os.File{etc} // descriptor 3
		}
	}
	var err error
	if b.hand, err = prepare(cmd, want); err != nil {
		return err
	}
	cmd.Args = append([]string{b.self, step}, want.Flags(b.hand.FD())...)
	cmd.Args = append(append(cmd.Args, "--"), wall...)
	b.cmd = cmd
	free := child.Tie()
	defer free()
	return b.hand.Start()
}
