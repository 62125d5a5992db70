package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
)

// What an origin serves, by path: /bulk sends until the connection ends, /sink
// takes until it ends, /small answers a hundred bytes and waits for the next
// request. It speaks as much HTTP as that takes, so that what is measured is
// not the origin.
const (
	pathBulk  = "/bulk"
	pathSink  = "/sink"
	pathSmall = "/small"
)

var smallAnswer = []byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + string(bytes.Repeat([]byte("x"), 100)))

// serveOrigin serves a listener until it is closed.
func serveOrigin(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			answerAll(c)
		}()
	}
}

func answerAll(c net.Conn) {
	r := bufio.NewReaderSize(c, 4096)
	for {
		path, err := readRequest(r)
		if err != nil {
			return
		}
		switch path {
		case pathBulk:
			if _, err := c.Write([]byte("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")); err != nil {
				return
			}
			for zeros := make([]byte, 256<<10); err == nil; {
				_, err = c.Write(zeros)
			}
			return
		case pathSink:
			io.Copy(io.Discard, r)
			return
		default:
			if _, err := c.Write(smallAnswer); err != nil {
				return
			}
		}
	}
}

// readRequest reads a head and gives the path of its first line.
func readRequest(r *bufio.Reader) (path string, err error) {
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		if first {
			if fields := bytes.Fields(line); len(fields) > 1 {
				path = string(fields[1])
			}
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return path, nil
		}
	}
}
