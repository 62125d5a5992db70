package proxy_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// FuzzSOCKS: every request, of whatever command, kind of address and name, is
// answered in the protocol; nothing is looked up or dialled but what the rules
// name, and whoever is told of a connection has been dialled.
func FuzzSOCKS(f *testing.F) {
	f.Add(byte(1), byte(3), []byte("ok.test"), uint16(7))
	f.Add(byte(1), byte(3), []byte("bad.test\x00.ok.test"), uint16(7))
	f.Add(byte(1), byte(3), []byte(""), uint16(7))
	f.Add(byte(2), byte(3), []byte("ok.test"), uint16(7))
	f.Add(byte(3), byte(1), []byte{0, 0, 0, 0}, uint16(53))
	f.Add(byte(1), byte(1), []byte{127, 0, 0, 1}, uint16(80))
	f.Add(byte(1), byte(4), make([]byte, 16), uint16(22))
	var mu sync.Mutex
	var looked, dialled []string
	j, err := judge.New(judge.Rules{Hosts: []string{"ok.test:7"}}, judge.System{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			mu.Lock()
			defer mu.Unlock()
			looked = append(looked, name)
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
		},
		Interfaces: func() ([]netip.Prefix, error) { return nil, nil },
	})
	if err != nil {
		f.Fatal(err)
	}
	p, err := proxy.New(proxy.Config{Sandbox: "fuzz", Judge: j, Dial: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		dialled = append(dialled, to.String())
		return nil, errors.New("nobody there")
	}})
	if err != nil {
		f.Fatal(err)
	}
	l := &piped{conns: make(chan net.Conn), closed: make(chan struct{})}
	go p.Serve(l)
	f.Cleanup(func() { p.Close() })
	f.Fuzz(func(t *testing.T, command, kind byte, address []byte, port uint16) {
		switch kind {
		case 1:
			address = append(address, make([]byte, 4)...)[:4]
		case 4:
			address = append(address, make([]byte, 16)...)[:16]
		case 3:
			address = address[:min(len(address), 255)]
			address = append([]byte{byte(len(address))}, address...)
		}
		mu.Lock()
		looked, dialled = nil, nil
		mu.Unlock()
		near, far := net.Pipe()
		defer near.Close()
		l.conns <- far
		near.SetDeadline(time.Now().Add(patience))
		request := append([]byte{5, 1, 0, 5, command, 0, kind}, address...)
		go near.Write(binary.BigEndian.AppendUint16(request, port))
		reply := make([]byte, 4)
		if _, err := io.ReadFull(near, reply); err != nil || reply[0] != 5 || reply[1] != 0 || reply[2] != 5 || reply[3] == 0 {
			t.Fatalf("%q: answered %v, %v", request, reply, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, name := range looked {
			if name != "ok.test" || port != 7 || command != 1 || kind != 3 {
				t.Fatalf("%q: %q was looked up", request, name)
			}
		}
		for _, to := range dialled {
			if to != "192.0.2.1:7" || len(looked) == 0 {
				t.Fatalf("%q: %s was dialled", request, to)
			}
		}
	})
}
