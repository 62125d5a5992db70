package carry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// drainTime is how long one side of an upgraded connection may go on when the
// other has ended.
const drainTime = 2 * time.Minute

var errSwitched = errors.New("the server switched to a protocol that was not asked for")

// upgradeOf is what a request asks its connection to become, if anything (RFC
// 9110 section 7.8).
func upgradeOf(h http.Header) string {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(name), "upgrade") {
				return strings.Join(h["Upgrade"], ", ")
			}
		}
	}
	return ""
}

// upgrades says whether an upgrade is asked for that can be carried: any but
// HTTP/2, which nobody here would speak; where answers are read, a websocket.
func (c *carrier) upgrades(to string) bool {
	if c.redactor != nil {
		return strings.EqualFold(to, "websocket")
	}
	return to != "" && !strings.EqualFold(to, "h2c")
}

// upgrade makes the connections one, once the server has agreed.
func (c *carrier) upgrade(w http.ResponseWriter, r *http.Request, resp *http.Response, asked, agreed string) {
	far, both := resp.Body.(io.ReadWriteCloser)
	packed := c.redactor != nil && resp.Header.Get("Sec-Websocket-Extensions") != ""
	if !both || asked == "" || !strings.EqualFold(asked, agreed) || packed {
		c.proxy.Answer(w, r, errSwitched)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		c.proxy.Answer(w, r, err)
		return
	}
	defer near.Close()
	defer context.AfterFunc(r.Context(), func() { near.Close(); far.Close() })()
	var head strings.Builder
	resp.Header.Set("Connection", "Upgrade")
	resp.Header.Set("Upgrade", agreed)
	head.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	resp.Header.Write(&head)
	head.WriteString("\r\n")
	if _, err := io.WriteString(near, head.String()); err != nil {
		return
	}
	if c.redactor != nil {
		go func() {
			io.Copy(far, near)
			far.Close()
		}()
		redact.Frames(near, far, c.redactor)
		return
	}
	done := make(chan struct{}, 2)
	move := func(to io.WriteCloser, from io.Reader) {
		io.Copy(to, from)
		if half, ok := to.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
			to.Close()
		}
		done <- struct{}{}
	}
	go move(far, near)
	go move(near, far)
	<-done
	drained := time.AfterFunc(drainTime, func() { near.Close(); far.Close() })
	defer drained.Stop()
	<-done
}
