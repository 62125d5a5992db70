package secret

import (
	"context"
	"encoding/binary"
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
	messages(near, far, b.frames)
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

// messages copies a server's frames (RFC 6455 section 5.2), in each of which the
// value is replaced by what is as long. A frame that cannot be read ends it: one
// that is masked, which a server's never is, or compressed, which was not
// agreed on.
func messages(w io.Writer, r io.Reader, redactor *redact.Redactor) error {
	buf := make([]byte, 32<<10)
	for {
		if _, err := io.ReadFull(r, buf[:2]); err != nil {
			return err
		}
		if buf[0]&0x70 != 0 || buf[1]&0x80 != 0 {
			return errors.New("a frame that is masked or compressed")
		}
		head, left := 2, uint64(buf[1])
		switch left {
		case 126:
			head = 4
		case 127:
			head = 10
		}
		if _, err := io.ReadFull(r, buf[2:head]); err != nil {
			return err
		}
		switch head {
		case 4:
			left = uint64(binary.BigEndian.Uint16(buf[2:]))
		case 10:
			left = binary.BigEndian.Uint64(buf[2:])
		}
		if _, err := w.Write(buf[:head]); err != nil {
			return err
		}
		stream := redactor.Stream()
		for left > 0 {
			n, err := r.Read(buf[:min(left, uint64(len(buf)))])
			left -= uint64(n)
			if _, werr := w.Write(stream.Next(buf[:n], left == 0)); werr != nil {
				return werr
			}
			if err != nil && left > 0 {
				return err
			}
		}
	}
}
