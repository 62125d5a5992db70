package stages

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/child"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/folder"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/relay"
)

// handoverTime bounds how long the namespace may take to be made.
const handoverTime = 20 * time.Second

// errOwnPort refuses to carry a call to the relay itself, where it would go
// round in a circle.
var errOwnPort = errors.New("the relay's own port")

// relayed joins ports inside to proxies whose sockets are in folders. It stays
// outside the program's mount and process namespaces, or where it was started.
type relayed struct {
	flags   relayFlags
	relay   *relay.Relay
	folders []*folder.Folder // by flags.also
	in      []net.Listener
}

// Relay runs a command behind a relay and gives its status. Its program gets
// env and nothing else.
func Relay(args, env []string) (int, error) {
	f, err := parseRelay(args)
	if err != nil {
		return say.StatusRefused, err
	}
	r := &relayed{flags: f, relay: relay.New()}
	defer r.close()
	if err := r.listenIn(); err != nil {
		return say.StatusSetup, err
	}
	if f.own {
		return r.inOwnNetwork(env)
	}
	if err := r.hereOnly(); err != nil {
		return say.StatusSetup, err
	}
	return child.RunAsItIs(f.command, env)
}

// listenIn opens the folders and makes in.sock in each.
func (r *relayed) listenIn() error {
	for _, to := range r.flags.also {
		if err := folder.Make(to.dir); err != nil {
			return err
		}
		d, err := folder.Open(to.dir, folder.Anyone)
		if err != nil {
			return err
		}
		r.folders = append(r.folders, d)
		l, err := d.Listen(folder.In)
		if err != nil {
			return err
		}
		r.in = append(r.in, l)
	}
	return nil
}

// out connects to a proxy.
func (r *relayed) out(i int) relay.Dial {
	return func(ctx context.Context) (net.Conn, error) { return r.folders[i].Dial(ctx, folder.Out, folder.Anyone) }
}

// serveIn answers on every in.sock. The relay's own ports are not dialled.
func (r *relayed) serveIn(dial func(context.Context, uint16) (net.Conn, error)) {
	for _, l := range r.in {
		go r.relay.ServeIn(l, func(ctx context.Context, port uint16) (net.Conn, error) {
			if r.flags.taken(port) || port == 0 || r.flags.own && (port == inside.DNSPort || port == inside.TransparentPort) {
				return nil, errOwnPort
			}
			return dial(ctx, port)
		})
	}
}

// hereOnly relays in the network that this process is in: somebody else made it.
func (r *relayed) hereOnly() error {
	for i, to := range r.flags.also {
		all, err := relay.Loopback(to.port)
		if err != nil {
			return fmt.Errorf("--also %s: %w", to.dir, err)
		}
		for _, l := range all {
			go r.relay.Carry(l, r.out(i))
		}
	}
	r.serveIn(relay.DialLoopback)
	return nil
}

// inOwnNetwork relays into a network that is made for the command: the only
// ways out of it are the proxies and the ports.
func (r *relayed) inOwnNetwork(env []string) (int, error) {
	child.CloseOnExec()
	want := RelayNetwork(r.flags.reachedAt(), r.flags.ports)
	self, err := os.Executable()
	if err != nil {
		return say.StatusSetup, err
	}
	self = Beside(self)
	cmd := exec.Command(self)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !r.flags.terminal}
	hand, err := inside.Prepare(cmd, want)
	if err != nil {
		return say.StatusSetup, err
	}
	defer hand.Close()
	cmd.Args = append([]string{self, "proxy-inside"}, want.Flags(hand.FD())...)
	cmd.Args = append(append(cmd.Args, "--"), r.flags.command...)
	signals := child.Hold(r.flags.terminal)
	defer signals.Stop()
	free := child.Tie()
	err = hand.Start()
	free()
	if err != nil {
		return say.StatusSetup, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), handoverTime)
	defer cancel()
	listeners, err := hand.Receive(ctx)
	if err != nil {
		child.Reap(cmd)
		return say.StatusSetup, err
	}
	r.carry(listeners)
	if err := hand.Go(); err != nil {
		cmd.Process.Kill()
		child.Reap(cmd)
		return say.StatusSetup, err
	}
	sockets := hand.Sockets()
	defer sockets.Close()
	r.serveIn(sockets.Dial)
	signals.PassTo(cmd.Process.Pid)
	return child.Reap(cmd), nil
}

// carry serves what was handed out of the namespace.
func (r *relayed) carry(l *inside.Listeners) {
	for i, to := range r.flags.also {
		for _, listener := range l.Ports[to.port] {
			go r.relay.Carry(listener, r.out(i))
		}
	}
	for _, port := range r.flags.ports {
		for _, listener := range l.Ports[port] {
			go r.relay.Carry(listener, func(ctx context.Context) (net.Conn, error) { return relay.DialLoopback(ctx, port) })
		}
	}
	for _, listener := range append(l.Transparent, l.DNSStreams...) {
		go r.relay.Refuse(listener)
	}
	for _, packets := range l.DNSPackets {
		go r.relay.RefuseNames(packets)
	}
}

func (r *relayed) close() {
	r.relay.Close()
	for _, l := range r.in {
		l.Close()
	}
	for _, d := range r.folders {
		d.Close()
	}
}
