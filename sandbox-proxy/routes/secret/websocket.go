package secret

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// asksWebsocket says whether a request asks for a websocket (RFC 6455 section
// 4.1). Any other upgrade is not passed on.
func asksWebsocket(h http.Header) bool {
	return strings.EqualFold(h.Get("Upgrade"), "websocket") && asksUpgrade(h)
}

func asksUpgrade(h http.Header) bool {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(name), "upgrade") {
				return true
			}
		}
	}
	return false
}

// switched carries a websocket that the host has agreed to.
func (b *bridge) switched(w http.ResponseWriter, r *http.Request, resp *http.Response, how *reply) {
	far, both := resp.Body.(io.ReadWriteCloser)
	if !both || !how.websocket || !asksWebsocket(resp.Header) || resp.Header.Get("Sec-Websocket-Extensions") != "" {
		b.proxy.Answer(w, r, errSwitched)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		b.proxy.Answer(w, r, err)
		return
	}
	defer near.Close()
	defer context.AfterFunc(r.Context(), func() { near.Close(); far.Close() })()
	how.head(resp.Header)
	var head strings.Builder
	head.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n")
	resp.Header.Write(&head)
	head.WriteString("\r\n")
	if _, err := io.WriteString(near, head.String()); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(far, onlyReader{near})
		far.Close()
	}()
	redact.Frames(near, far, how.inMessages())
	near.Close()
	far.Close()
	<-done
}

var errSwitched = errors.New("the host switched to a protocol that was not asked for")

// onlyReader hides what a connection can do beside reading.
type onlyReader struct{ net.Conn }

func (o onlyReader) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{o.Conn})
}
