package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A load is what one process of clients does. It is started inside a sandbox,
// or outside for what it is held against.
type load struct {
	via      string // direct, connect, plain or port
	to       string // the origin; of names the server, that of the system if empty
	what     string // bulk, sink, new, kept, names or idle
	workers  int
	idle     int // tunnels that stand beside and do nothing
	duration time.Duration
}

// A result is what came of a load, as JSON between processes.
type result struct {
	Bytes   int64   `json:"bytes"`
	Calls   int64   `json:"calls"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50"` // of a call, microseconds
	P99     float64 `json:"p99"`
}

// Lines by which a load tells who started it when it begins and has ended.
const (
	lineBegin = "begin"
	lineEnd   = "end"
)

// loadMain is the process of clients.
func loadMain(args []string) error {
	var l load
	set := flag.NewFlagSet("load", flag.ContinueOnError)
	set.StringVar(&l.via, "via", "direct", "")
	set.StringVar(&l.to, "to", "", "")
	set.StringVar(&l.what, "what", "", "")
	set.IntVar(&l.workers, "workers", 1, "")
	set.IntVar(&l.idle, "idle", 0, "")
	set.DurationVar(&l.duration, "for", time.Second, "")
	if err := set.Parse(args); err != nil {
		return err
	}
	for range l.idle {
		c, err := l.call()
		if err != nil {
			return fmt.Errorf("idle tunnel: %w", err)
		}
		defer c.Close()
	}
	fmt.Println(lineBegin)
	got, err := l.run()
	if err != nil {
		return err
	}
	fmt.Println(lineEnd)
	return json.NewEncoder(os.Stdout).Encode(got)
}

// run has all workers at it for the duration.
func (l load) run() (result, error) {
	var mu sync.Mutex
	var total result
	var times []time.Duration
	var failed error
	var all sync.WaitGroup
	begin := time.Now()
	until := begin.Add(l.duration)
	for range l.workers {
		all.Go(func() {
			moved, took, err := l.work(until)
			mu.Lock()
			defer mu.Unlock()
			total.Bytes += moved
			times = append(times, took...)
			failed = errors.Join(failed, err)
		})
	}
	all.Wait()
	total.Seconds = time.Since(begin).Seconds()
	total.Calls = int64(len(times))
	slices.Sort(times)
	if n := len(times); n > 0 {
		total.P50 = float64(times[n/2].Nanoseconds()) / 1e3
		total.P99 = float64(times[n*99/100].Nanoseconds()) / 1e3
	}
	return total, failed
}

func (l load) work(until time.Time) (moved int64, took []time.Duration, err error) {
	switch l.what {
	case "bulk", "sink":
		moved, err = l.stream(until)
		return moved, nil, err
	case "new":
		for time.Now().Before(until) {
			at := time.Now()
			c, err := l.call()
			if err == nil {
				err = l.ask(c, bufio.NewReaderSize(c, 512))
				c.Close()
			}
			if err != nil {
				return 0, took, err
			}
			took = append(took, time.Since(at))
		}
		return 0, took, nil
	case "kept":
		c, err := l.call()
		if err != nil {
			return 0, nil, err
		}
		defer c.Close()
		for r := bufio.NewReaderSize(c, 4096); time.Now().Before(until); {
			at := time.Now()
			if err := l.ask(c, r); err != nil {
				return 0, took, err
			}
			took = append(took, time.Since(at))
		}
		return 0, took, nil
	case "names":
		took, err = l.askNames(until)
		return 0, took, err
	case "idle":
		time.Sleep(time.Until(until))
		return 0, nil, nil
	}
	return 0, nil, fmt.Errorf("%q: no such load", l.what)
}

// stream moves bytes one way for as long as there is time.
func (l load) stream(until time.Time) (int64, error) {
	c, err := l.call()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	c.SetDeadline(until)
	var moved int64
	move, path := c.Read, pathBulk
	if l.what == "sink" {
		move, path = c.Write, pathSink
	}
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\n\r\n"); err != nil {
		return 0, err
	}
	for buf := make([]byte, 256<<10); ; {
		n, err := move(buf)
		moved += int64(n)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return moved, nil
		}
		if err != nil {
			return moved, err
		}
	}
}

// dialProxy connects to the proxy: an address, or the path of a socket.
func dialProxy() (net.Conn, error) {
	u, err := url.Parse(os.Getenv("HTTP_PROXY"))
	switch {
	case err == nil && u.Scheme == "unix":
		return net.Dial("unix", u.Path)
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("HTTP_PROXY: %q: names no proxy", os.Getenv("HTTP_PROXY"))
	}
	return net.Dial("tcp", u.Host)
}

// call makes a connection on which the origin can be asked.
func (l load) call() (net.Conn, error) {
	if l.via == "direct" || l.via == "port" {
		return net.Dial("tcp", l.to)
	}
	c, err := dialProxy()
	if err != nil || l.via == "plain" {
		return c, err
	}
	if _, err := io.WriteString(c, "CONNECT "+l.to+" HTTP/1.1\r\nHost: "+l.to+"\r\n\r\n"); err != nil {
		c.Close()
		return nil, err
	}
	// The answer to a CONNECT is a head and nothing behind it: the origin waits
	// to be asked.
	head := make([]byte, 0, 512)
	for !strings.HasSuffix(string(head), "\r\n\r\n") {
		n, err := c.Read(head[len(head):cap(head)])
		if err != nil || len(head)+n == cap(head) {
			c.Close()
			return nil, fmt.Errorf("CONNECT: %w: %q", err, head)
		}
		head = head[:len(head)+n]
	}
	if _, status, _ := strings.Cut(string(head), " "); !strings.HasPrefix(status, "200") {
		c.Close()
		return nil, fmt.Errorf("CONNECT: %q", head)
	}
	return c, nil
}

// ask makes one small request and reads its answer.
func (l load) ask(c net.Conn, r *bufio.Reader) error {
	target := pathSmall
	if l.via == "plain" {
		target = "http://" + l.to + pathSmall
	}
	if _, err := io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: "+l.to+"\r\n\r\n"); err != nil {
		return err
	}
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !strings.HasPrefix(string(line), "HTTP/1.1 200") {
			return fmt.Errorf("answered %q", line)
		}
		if len(line) <= 2 {
			break
		}
	}
	_, err := r.Discard(100)
	return err
}
