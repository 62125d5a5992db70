package shim

import (
	"bufio"
	"errors"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

const (
	// maxLine and maxHeaders bound an answer's head; maxWhy the line that says
	// why a call was refused.
	maxLine    = 8 << 10
	maxHeaders = 100
	maxWhy     = 4 << 10
)

// A proxy is a connection to a route of the sandbox's proxy.
type proxy struct {
	*os.File
	host, path string
}

// dial connects to where a route's address is.
func dial(address string) (*proxy, error) {
	rest, ok := strings.CutPrefix(address, "http://")
	host, path, _ := strings.Cut(rest, "/")
	for i := range len(rest) {
		ok = ok && rest[i] > ' ' && rest[i] < 0x7f
	}
	at, err := netip.ParseAddrPort(host)
	if !ok || err != nil || at.Port() == 0 || at.Addr().Zone() != "" {
		return nil, errors.New("its address in the environment is none")
	}
	c, err := connect(at)
	if err != nil {
		return nil, errors.New("the sandbox's proxy cannot be reached")
	}
	return &proxy{c, host, "/" + path}, nil
}

// An answer is a response whose body is still to be read.
type answer struct {
	status int
	body   io.Reader
}

// readAnswer reads a response's head (RFC 9112), past those before it.
func readAnswer(r io.Reader) (a answer, err error) {
	br := bufio.NewReaderSize(r, maxLine)
	for a.status < 200 {
		if a, err = readHead(br); err != nil {
			return a, err
		}
	}
	return a, nil
}

func readHead(br *bufio.Reader) (a answer, err error) {
	line, err := readLine(br)
	if err != nil {
		return a, err
	}
	words := strings.SplitN(line, " ", 3)
	if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/1.") {
		return a, errors.New("not an HTTP answer")
	}
	if a.status, err = strconv.Atoi(words[1]); err != nil {
		return a, err
	}
	a.body = br
	for range maxHeaders {
		line, err := readLine(br)
		if err != nil {
			return a, err
		}
		if line == "" {
			return a, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "transfer-encoding":
			if strings.EqualFold(value, "chunked") {
				a.body = &chunked{r: br}
			}
		case "content-length":
			n, err := strconv.ParseUint(value, 10, 62)
			if err != nil {
				return a, err
			}
			a.body = io.LimitReader(br, int64(n))
		}
	}
	return a, errors.New("an answer with too many headers")
}

func readLine(br *bufio.Reader) (string, error) {
	line, err := br.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// line is the first line of an answer's body.
func (a answer) line() string {
	b, _ := io.ReadAll(io.LimitReader(a.body, maxWhy))
	line, _, _ := strings.Cut(string(b), "\n")
	if line == "" {
		line = "the sandbox's proxy answered " + strconv.Itoa(a.status)
	}
	return line
}

// chunked reads a body in chunks (RFC 9112 section 7.1).
type chunked struct {
	r    *bufio.Reader
	left int64 // of this chunk
	any  bool
	end  bool
}

func (c *chunked) Read(p []byte) (int, error) {
	for c.left == 0 {
		if c.end {
			return 0, io.EOF
		}
		if c.any {
			if line, err := readLine(c.r); err != nil || line != "" {
				return 0, errors.New("a chunk without its end")
			}
		}
		line, err := readLine(c.r)
		if err != nil {
			return 0, err
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 62)
		if err != nil {
			return 0, err
		}
		c.left, c.any, c.end = int64(n), true, n == 0
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// chunks writes each piece as one chunk.
type chunks struct {
	w   io.Writer
	buf []byte
}

func (c *chunks) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // it would be the end
	}
	c.buf = strconv.AppendInt(c.buf[:0], int64(len(p)), 16)
	c.buf = append(append(append(c.buf, "\r\n"...), p...), "\r\n"...)
	if _, err := c.w.Write(c.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}
