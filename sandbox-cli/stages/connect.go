package stages

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
)

const (
	// connectTime bounds the wait for the proxy's answer, and maxConnectHead
	// its length in bytes.
	connectTime    = 60 * time.Second
	maxConnectHead = 64 << 10
)

// connect is the proxy command of ssh: `connect --by <variable> <host>
// <port>` joins standard input and output to a host, through the proxy whose
// address the variable holds.
func connect(s say.Streams, args []string) (int, error) {
	if len(args) != 4 || args[0] != "--by" {
		return say.StatusRefused, errors.New("want connect --by <variable> <host> <port>: lnk sandbox puts it into GIT_SSH_COMMAND")
	}
	c, r, err := connectBy(os.Getenv(args[1]), args[2], args[3])
	if err != nil {
		return say.StatusFailed, fmt.Errorf("%s:%s by the proxy in %s: %w", args[2], args[3], args[1], err)
	}
	defer c.Close()
	go func() {
		io.Copy(c, s.In)
		c.(*net.TCPConn).CloseWrite()
	}()
	if _, err := io.Copy(s.Out, r); err != nil {
		return say.StatusFailed, err
	}
	return 0, nil
}

// connectBy asks the proxy at an address for a tunnel. What it says in the
// tunnel is read from the reader.
func connectBy(address, host, port string) (net.Conn, io.Reader, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return nil, nil, errors.New("it holds no http:// address") // not what it holds: that is a secret
	}
	if strings.ContainsFunc(host+port, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, nil, errors.New("not a host and a port")
	}
	c, err := net.DialTimeout("tcp", u.Host, connectTime)
	if err != nil {
		return nil, nil, err
	}
	fail := func(err error) (net.Conn, io.Reader, error) {
		c.Close()
		return nil, nil, err
	}
	c.SetDeadline(time.Now().Add(connectTime))
	target := net.JoinHostPort(strings.Trim(host, "[]"), port)
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if password, ok := u.User.Password(); ok {
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(c, head+"\r\n"); err != nil {
		return fail(err)
	}
	r := bufio.NewReaderSize(c, maxConnectHead)
	said, err := answerHead(r)
	if err != nil {
		return fail(err)
	}
	if word := strings.Fields(said); len(word) < 2 || word[1] != "200" {
		line, _ := io.ReadAll(io.LimitReader(r, maxConnectHead))
		return fail(errors.New(say.OneLine(strings.TrimSpace(string(line)))))
	}
	c.SetDeadline(time.Time{})
	return c, r, nil
}

// answerHead reads a head and gives its first line.
func answerHead(r *bufio.Reader) (first string, err error) {
	for n := 0; ; {
		b, err := r.ReadSlice('\n')
		line := string(b)
		if n += len(line); err != nil || n > maxConnectHead {
			return "", errors.New("the proxy ended the connection before it answered")
		}
		if first == "" {
			first = line
		}
		if strings.TrimRight(line, "\r\n") == "" {
			return first, nil
		}
	}
}
