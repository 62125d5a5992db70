package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// benchZone is the name whose names are asked for: it resolves nowhere.
	benchZone = "bench.example"
	// askers is how many sockets ask, and asked how many questions of each
	// are under way.
	askers = 8
	asked  = 8
	// lostTime is when a question is taken for lost.
	lostTime = 200 * time.Millisecond
)

// names measures the sandbox's name server from inside, beside unbound without
// a sandbox where that is on PATH.
func (r *rig) names(ctx context.Context, self string, rounds int) error {
	l := load{via: "direct", what: "names", workers: askers, duration: lasts}
	ways := []way{{"inside", func(ctx context.Context, l load) (measured, error) {
		argv := []string{filepath.Join(r.bin, "lnk"), "sandbox", "run", "--yes", "--write", r.project, "--read", self, "--internet-host", "*." + benchZone, "--", self}
		return r.measure(ctx, append(argv, l.args()...), r.env, 0)
	}, false}}
	p, stop, err := unbound.start(ctx, r.dir)
	if err == nil {
		defer stop()
		ways = append(ways, way{"unbound", func(ctx context.Context, l load) (measured, error) {
			l.to = p.at
			return r.measure(ctx, append([]string{self}, l.args()...), r.env, p.pid)
		}, false})
	}
	got, err := compare(ctx, ways, l, rounds)
	if err != nil {
		return fmt.Errorf("names: %w", err)
	}
	fmt.Printf("names inside: %.0f answers/s, p50 %.0f µs, %s each", got[0].rate("calls/s"), got[0].P50, got[0].cost("calls/s"))
	if len(got) > 1 {
		fmt.Printf("; unbound without a sandbox: %.0f, p50 %.0f µs, %s: ratio %.2f",
			got[1].rate("calls/s"), got[1].P50, got[1].cost("calls/s"), got[0].rate("calls/s")/got[1].rate("calls/s"))
	}
	fmt.Println()
	return nil
}

// nameServer is the one that resolv.conf(5) names.
func nameServer() (string, error) {
	text, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "nameserver "); ok {
			return net.JoinHostPort(strings.TrimSpace(at), "53"), nil
		}
	}
	return "", errors.New("/etc/resolv.conf names no server")
}

// askNames asks for addresses of names for as long as there is time, several at
// once, and times each answer.
func (l load) askNames(until time.Time) (took []time.Duration, err error) {
	to := l.to
	if to == "" {
		if to, err = nameServer(); err != nil {
			return nil, err
		}
	}
	c, err := net.Dial("udp", to)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var sent [asked]time.Time
	next := uint16(0)
	ask := func(slot int) error {
		next++
		sent[slot] = time.Now()
		_, err := c.Write(question(next<<3|uint16(slot), fmt.Sprintf("h%d.%s", next%200, benchZone)))
		return err
	}
	for slot := range sent {
		if err := ask(slot); err != nil {
			return nil, err
		}
	}
	for buf := make([]byte, 1500); time.Now().Before(until); {
		c.SetReadDeadline(time.Now().Add(lostTime))
		n, err := c.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			for slot := range sent {
				if err := ask(slot); err != nil {
					return nil, err
				}
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if n < 12 || buf[3]&0xf != 0 || binary.BigEndian.Uint16(buf[6:]) == 0 {
			return nil, fmt.Errorf("answered %x", buf[:n])
		}
		slot := int(binary.BigEndian.Uint16(buf) & 7)
		took = append(took, time.Since(sent[slot]))
		if err := ask(slot); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// question asks for the IPv4 address of a name, with EDNS (RFC 1035 section
// 4.1, RFC 6891 section 6.1).
func question(id uint16, name string) []byte {
	b := binary.BigEndian.AppendUint16(nil, id)
	b = append(b, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1)
	for label := range strings.SplitSeq(name, ".") {
		b = append(append(b, byte(len(label))), label...)
	}
	return append(b, 0, 0, 1, 0, 1, 0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0)
}
