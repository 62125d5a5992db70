package main

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/folder"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/relay"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/socket"
)

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
