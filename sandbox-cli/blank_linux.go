package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/blank"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/folder"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// blankProxy is a proxy in a folder that holds nothing of anybody's until it is
// bound.
func blankProxy(s Streams, f proxyFlags, argv, env []string) (int, error) {
	place, err := newPlace(f.wayFlags)
	if err != nil {
		return 0, setupFailed(err)
	}
	defer place.Close()
	control, err := listenControl(f.Control)
	if err != nil {
		return 0, setupFailed(err)
	}
	defer control.Close()
	out := blank.NewListener(place.out)
	defer out.Close()
	b := &binding{flags: f, place: place, out: out, told: newTeller(s.Err, f)}
	own := os.Geteuid()
	c := &blank.Control{
		Peer: func(c net.Conn) (int, error) { return folder.PeerOf(c.(*net.UnixConn)) },
		May:  func(uid int) bool { return uid == own || f.Binder != nil && uid == *f.Binder },
		Bind: b.bind,
	}
	go c.Serve(control)
	status, err := holdOrRun(f.Hold, argv, env)
	control.Close()
	b.end(status)
	return status, err
}

// listenControl makes the control socket: its user's alone from the moment that
// it is there. One that nothing listens on any more is replaced.
func listenControl(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("--control %s: something is there that is no socket", path)
		}
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("--control %s: another is listening there", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("--control: %w", err)
		}
	}
	before := unix.Umask(0o177) // of the process: nothing else of it makes files yet
	l, err := net.Listen("unix", path)
	unix.Umask(before)
	if err != nil {
		return nil, fmt.Errorf("--control %s: %w", path, plain(err))
	}
	return l, nil
}

// A binding is what a blank proxy becomes.
type binding struct {
	flags proxyFlags
	place *place
	out   *blank.Listener
	told  *teller

	mu    sync.Mutex
	ended bool
	way   *way
}

// bind makes the proxy, and opens it last: until then every call has had its
// 503, and after an error it goes on to.
func (b *binding) bind(as client.ProxyBind) error {
	f := b.flags
	f.Name = cmp.Or(as.Name, as.Wire, "blank")
	f.Wire = as.Wire
	f.Upstream = as.Upstream
	f.AnyHost, f.Hosts, f.TCP = as.Host == nil, as.Host, as.TCP
	f.Serve, f.Ports = as.Serve, as.Reach
	f.LAN, f.NoInternet, f.PerMinute = as.LAN, as.NoInternet, as.PerMinute
	f.mounts = route.Mounts{Routes: as.Routes, URLSecret: as.URLSecret}
	if as.Caller != nil {
		f.mounts.Caller = *as.Caller
	}
	for _, p := range as.Serve {
		if slices.Contains(as.Reach, p) {
			return fmt.Errorf("/serve: port %d: it is reached too, and cannot be both", p)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return errEnds
	}
	w, err := newWay(f, b.told, "")
	if err != nil {
		return err
	}
	if err := b.serve(w, as); err != nil {
		w.Close()
		return err
	}
	b.way = w
	b.out.Open()
	return nil
}

func (b *binding) serve(w *way, as client.ProxyBind) (err error) {
	if err := w.inward.listen(as.Serve); err != nil {
		return err
	}
	var desktop net.Listener
	if as.Desktop != 0 {
		if desktop, err = b.place.folder.Listen(folder.Desktop); err != nil {
			return err
		}
	}
	if err := w.serveIn(b.place, b.out); err != nil {
		if desktop != nil {
			desktop.Close()
		}
		return err
	}
	if desktop != nil {
		go w.proxy.ServeInward(desktop, as.Desktop, func(ctx context.Context) (net.Conn, error) { return b.place.dial(ctx, as.Desktop) })
	}
	return nil
}

var errEnds = errors.New("this proxy is about to end")

// end is the end of what it became.
func (b *binding) end(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.way != nil {
		b.way.end(status)
	}
}
