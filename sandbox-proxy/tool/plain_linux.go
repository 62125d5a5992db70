package tool

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// whole answers a call in JSON once it has ended.
func (b *bridge) whole(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	c, bad := readJSON(r.Body)
	if bad != nil {
		b.refused(w, r, nil, bad)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := &jsonAnswer{out: kept{room: &b.host.answers}, errs: kept{room: &b.host.answers}}
	defer answer.drop()
	var err error
	made := make(chan struct{})
	go func() {
		defer close(made)
		err = b.collect(ctx, c, answer)
	}()
	// A caller that is gone is only noticed when something is written to it.
	probe := time.NewTicker(probeTime)
	defer probe.Stop()
	for waits := true; waits; {
		select {
		case <-made:
			waits = false
		case <-probe.C:
			if r.ProtoAtLeast(1, 1) {
				w.WriteHeader(http.StatusProcessing) // cancels the request's context where it fails
			}
		}
	}
	if err != nil {
		b.refused(w, r, c.args, asRefusal(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer.write(w) // a caller that is gone has no use for it
}

// collect makes a call and keeps what it says.
func (b *bridge) collect(ctx context.Context, c jsonCall, a *jsonAnswer) error {
	p, err := b.begin(ctx, c.args, c.cwd)
	if err != nil {
		return err
	}
	defer p.close()
	go func() {
		io.WriteString(p.in, c.stdin)
		p.in.Close()
	}()
	ended := b.carry(ctx, p, c.args, &a.out, &a.errs)
	a.status = int(ended.Status)
	if ended.Signal != 0 {
		a.signal = unix.SignalName(unix.Signal(ended.Signal))
	}
	return nil
}

// streamed answers a call with its output as it comes.
func (b *bridge) streamed(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		b.refused(w, r, nil, refuse(http.StatusBadRequest, "the query cannot be read: words are its arg members, percent-encoded"))
		return
	}
	for name := range query {
		if name != "arg" && name != "cwd" {
			b.refused(w, r, nil, refuse(http.StatusBadRequest, "the query's member %s: want arg, and cwd at most once", Shown([]string{name})))
			return
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := b.begin(ctx, query["arg"], query.Get("cwd"))
	if err != nil {
		b.refused(w, r, query["arg"], asRefusal(err))
		return
	}
	defer p.close()
	control := http.NewResponseController(w)
	control.EnableFullDuplex()
	w.Header().Set("Trailer", statusHeader+", "+stderrHeader)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(http.StatusOK)
	control.Flush()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		defer p.in.Close()
		b := make([]byte, frame.MaxPart)
		for left := int64(maxInput); left > 0; {
			n, err := r.Body.Read(b)
			left -= int64(n)
			if _, wrong := p.in.Write(b[:n]); wrong != nil {
				return // it reads no more
			}
			if err != nil {
				if err != io.EOF {
					cancel()
				}
				return
			}
		}
		cancel()
	}()
	var errs tail
	ended := b.carry(ctx, p, query["arg"], &flushing{w, control, cancel}, &errs)
	control.SetReadDeadline(time.Unix(1, 0)) // the server must not be left while its body is read
	p.in.Close()
	<-fed
	control.SetReadDeadline(time.Time{})
	w.Header().Set(statusHeader, strconv.Itoa(int(ended.Status)))
	w.Header().Set(stderrHeader, url.PathEscape(string(errs)))
}

type flushing struct {
	w       io.Writer
	control *http.ResponseController
	cancel  func()
}

func (f *flushing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		err = f.control.Flush()
	}
	if err != nil {
		f.cancel()
	}
	return n, err
}

// tail is the end of a stream.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	all := append(*t, p...)
	*t = append(tail(nil), all[max(0, len(all)-maxTail):]...)
	return len(p), nil
}

// begin judges a call without a terminal and starts it.
func (b *bridge) begin(ctx context.Context, words []string, dir string) (*process, error) {
	j, err := b.host.judge(ctx, b.name, b.tool, words, dir, func(string) {})
	if err != nil {
		return nil, err
	}
	defer j.close()
	if ctx.Err() != nil {
		return nil, refuse(http.StatusServiceUnavailable, "%v", errGone)
	}
	p, err := b.host.start(j, nil)
	if err != nil {
		_, why := startFailed(j.argv[0], err)
		return nil, refuse(http.StatusBadGateway, "%s", why)
	}
	return p, nil
}

// carry gives a process's output to two writers until it is gone.
func (b *bridge) carry(ctx context.Context, p *process, words []string, out, errs io.Writer) frame.Ended {
	m := b.of(words)
	var pumps sync.WaitGroup
	pump := func(to io.Writer, from io.Reader) {
		if _, err := io.Copy(to, from); err != nil {
			io.Copy(io.Discard, from)
		}
	}
	pumps.Go(func() { pump(out, p.patient(p.out)) })
	pumps.Go(func() { pump(errs, p.patient(p.errs)) })
	select {
	case <-p.done:
	case <-ctx.Done():
		m.Cut = true
		p.end(b.host)
	}
	p.drain()
	pumps.Wait()
	m.Ended = p.ended
	b.host.tell(ctx, m)
	return p.ended
}
