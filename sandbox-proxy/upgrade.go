package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"
)

// asksUpgrade says whether Connection names the upgrade (RFC 9110 section 7.8).
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

// upgrade carries a request that asks for a websocket. Once the host agrees,
// the connections are a tunnel, and what either side has said already is in it.
func (p *Proxy) upgrade(w http.ResponseWriter, r *http.Request, g *gate, h *head, at target, c *call) {
	if c.far == nil {
		if err := c.connect(); err != nil {
			p.cameToNothing(err).write(w, h)
			c.failed(failureOf(err).detail)
			return
		}
	}
	c.warm.Store(nil)
	// Until it is a tunnel's it is held and counted as any other request's is.
	far := newOrigin(p, c.far)
	far.uncounted = true
	if !p.add(far) {
		c.failed(wordsFailed)
		panic(http.ErrAbortHandler)
	}
	defer p.drop(far)
	var said answerHead
	resp, br, err := askUpgrade(far, c.early, upgradeRequest(c, r, h, at), &said)
	if err != nil {
		p.failed(wordsCut).write(w, h)
		c.failed(wordsCut)
		return
	}
	if !agreed(resp) {
		p.meter.Add(0, br.Buffered())
		far.uncounted = false
		p.notUpgraded(w, r, h, c, resp, &said)
		return
	}
	early, err := br.Peek(br.Buffered())
	if err != nil || !g.takeOver(w) {
		c.failed(wordsLeft)
		return
	}
	c.early = append([]byte(nil), early...)
	if err := g.say(switching(resp.Header, &said)); err != nil {
		g.Close()
		c.failed(wordsLeft)
		return
	}
	p.tunnel(g, c, nil)
}

func upgradeRequest(c *call, r *http.Request, h *head, at target) *http.Request {
	out := c.request(r, h, at)
	setPath(out.URL, out.Method, h.path, false)
	out.Header.Set("Connection", "Upgrade")
	out.Header.Set("Upgrade", "websocket")
	return out
}

// switching is the answer that makes a websocket of the connection.
func switching(h http.Header, said *answerHead) string {
	names, _ := said.read()
	stripHop(h)
	names.on(h)
	h.Set("Connection", "Upgrade")
	h.Set("Upgrade", "websocket")
	var b strings.Builder
	b.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	h.Write(&b)
	b.WriteString("\r\n")
	return b.String()
}

// notUpgraded passes on the answer of a host that does not agree. The gate
// lets no other request through on the connection.
func (p *Proxy) notUpgraded(w http.ResponseWriter, r *http.Request, h *head, c *call, resp *http.Response, said *answerHead) {
	counted := &counter{call: c, last: true}
	counted.resp = resp
	counted.names, counted.hop = said.read()
	defer c.far.Close()
	defer counted.done()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		counted.failed(wordsSwitched)
		p.failed(wordsSwitched).write(w, h)
		return
	}
	gateOf(r).says.Store(statusOf(resp))
	if !counted.answer(w, r.Method, r.Context().Err) {
		panic(http.ErrAbortHandler)
	}
}

// askUpgrade sends the request and reads the answer, past those before it. Both
// are counted, and nothing that was read behind the answer is.
func askUpgrade(far *origin, early []byte, out *http.Request, said *answerHead) (*http.Response, *bufio.Reader, error) {
	far.SetDeadline(time.Now().Add(upstreamTime))
	defer far.SetDeadline(time.Time{})
	sent := &tally{Writer: far}
	err := out.Write(sent)
	far.proxy.meter.Add(sent.n, 0)
	if err != nil {
		return nil, nil, err
	}
	bounded := &io.LimitedReader{R: io.MultiReader(bytes.NewReader(early), far), N: maxHeadBytes}
	br := said.readAnswers(bounded)
	for range maxInterim {
		resp, err := http.ReadResponse(br, out)
		if err != nil {
			return nil, nil, err
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		far.proxy.meter.Add(0, maxHeadBytes-int(bounded.N)-br.Buffered())
		bounded.N = 1<<63 - 1
		return resp, br, nil
	}
	return nil, nil, io.ErrUnexpectedEOF
}

func agreed(resp *http.Response) bool {
	return resp.StatusCode == http.StatusSwitchingProtocols &&
		strings.EqualFold(resp.Header.Get("Upgrade"), "websocket") && asksUpgrade(resp.Header)
}
