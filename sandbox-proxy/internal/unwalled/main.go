//go:build linux

// Command unwalled serves a proxy that has no sandbox around it, for benchmarks:
// on a port of loopback, as other proxies are, and by sockets in a folder, as the
// sandboxes of others reach it, with a relay to them on another port.
//
// It opens one port of loopback, and ends when it is killed.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/folder"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/relay"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/socket"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: unwalled <port of the proxy> <port of the relay> <folder of sockets> <port to open>")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "unwalled:", err)
		os.Exit(1)
	}
}

func serve(at, relayed, sockets, opens string) error {
	port, err := strconv.ParseUint(opens, 10, 16)
	if err != nil {
		return err
	}
	j, err := judge.New(judge.Rules{Ports: []uint16{uint16(port)}}, judge.Machine())
	if err != nil {
		return err
	}
	p, err := proxy.New(proxy.Config{Sandbox: "bench", Judge: j})
	if err != nil {
		return err
	}
	if err := folder.Make(sockets); err != nil {
		return err
	}
	f, err := folder.Open(sockets, folder.Anyone)
	if err != nil {
		return err
	}
	out, err := f.Listen(folder.Out)
	if err != nil {
		return err
	}
	joint, err := net.Listen("tcp", "127.0.0.1:"+relayed)
	if err != nil {
		return err
	}
	own, err := listen("127.0.0.1:" + at)
	if err != nil {
		return err
	}
	ended := make(chan error)
	go func() { ended <- p.Serve(out) }()
	go func() { ended <- p.Serve(own) }()
	go relay.New().Carry(joint, func(ctx context.Context) (net.Conn, error) { return f.Dial(ctx, folder.Out, folder.Anyone) })
	return errors.Join(errors.New("it ended"), <-ended)
}

// listen listens as the proxy does inside.
func listen(at string) (net.Listener, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return socket.Listen(fd)
}
