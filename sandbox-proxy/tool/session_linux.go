package tool

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// A session is one call in frames.
type session struct {
	out    *frame.Writer
	cancel context.CancelFunc
	in     *frame.Queue
	sent   map[frame.Kind]*frame.Window // of Output and Errors
	input  int64                        // bytes so far; of the listener

	mu    sync.Mutex
	p     *process
	early uint8 // a signal that came before it ran
}

// framed makes a call whose streams are carried as they come.
func (b *bridge) framed(ctx context.Context, cancel context.CancelFunc, w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	if err := control.EnableFullDuplex(); err != nil {
		b.refused(w, r, nil, refuse(http.StatusHTTPVersionNotSupported, "a call in frames needs HTTP/1.1"))
		return
	}
	w.Header().Set("Content-Type", frame.ContentType)
	w.Header().Set("Connection", "close") // what is left of the body is not read
	w.WriteHeader(http.StatusOK)
	control.Flush()
	s := &session{
		out: frame.NewWriter(w, control.Flush), cancel: cancel, in: frame.NewQueue(),
		sent: map[frame.Kind]*frame.Window{frame.Output: frame.NewWindow(), frame.Errors: frame.NewWindow()},
	}
	from := frame.NewReader(r.Body)
	control.SetReadDeadline(time.Now().Add(describeTime))
	call, err := describe(from)
	control.SetReadDeadline(time.Time{})
	if err != nil {
		b.host.tell(ctx, Made{Name: b.name, Refused: err})
		s.out.Write(frame.Refused, []byte(oneLine(err.Error())))
		return
	}
	// A caller that is gone, or breaks the rules, ends the call. The server
	// must not be left while its body is read: the listener is waited for.
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		defer cancel()
		s.listen(from)
	}()
	stop := context.AfterFunc(ctx, func() {
		for _, window := range s.sent {
			window.Close()
		}
		control.SetWriteDeadline(time.Now().Add(graceTime)) // its end is still told where it can be
	})
	s.run(ctx, b, call)
	stop()
	s.in.Drop()
	// What the caller still sends, if only credit, is read until it has heard of
	// the end: a connection that is closed with something unread takes along what
	// is still on its way to the caller (RFC 2525, section 2.17).
	control.SetReadDeadline(time.Now().Add(endTime))
	<-listening
	io.Copy(io.Discard, r.Body)
	control.SetReadDeadline(time.Time{})
}

// endTime bounds the wait for a caller to hear of the end of its call.
const endTime = 2 * time.Second

// A described is what a caller asks for.
type described struct {
	words    []string
	folder   string
	terminal *terminal
}

// describe reads a call's description, bounded as it comes.
func describe(from *frame.Reader) (c described, err error) {
	total := 0
	for {
		k, b, err := from.Next()
		if err != nil {
			return c, errors.New("the call was not described: " + err.Error())
		}
		switch k {
		case frame.Word:
			total += len(b) + 1
			if len(c.words) == maxWords || total > maxWordBytes {
				return c, errors.New("more words than a call may have")
			}
			c.words = append(c.words, string(b))
		case frame.Folder:
			c.folder = string(b[:min(len(b), maxFolder+1)])
		case frame.Terminal:
			c.terminal = &terminal{}
			if c.terminal.size, c.terminal.errorsToo, err = frame.TerminalOf(b); err != nil {
				return c, err
			}
		case frame.Go:
			return c, nil
		default:
			return c, errors.New("a call that begins before it is described")
		}
	}
}

// run makes the call and tells how it ended.
func (s *session) run(ctx context.Context, b *bridge, c described) {
	notice := func(line string) { s.out.Write(frame.Notice, []byte(oneLine(line))) }
	m := b.of(c.words)
	defer func() { b.host.tell(ctx, m) }()
	j, err := b.host.judge(ctx, b.name, b.tool, c.words, c.folder, notice)
	if err != nil {
		m.Refused = err
		if early := s.signalled(); early != 0 {
			s.exit(frame.Ended{Status: 128 + early, Signal: early})
			return
		}
		s.out.Write(frame.Refused, []byte(oneLine(err.Error())))
		return
	}
	defer j.close()
	if m.Refused = ctx.Err(); m.Refused != nil {
		m.Refused = errGone
		return
	}
	p, err := b.host.start(j, c.terminal)
	if err != nil {
		status, why := startFailed(j.argv[0], err)
		m.Refused = errors.New(why)
		s.out.Write(frame.Notice, []byte(oneLine(why)))
		s.exit(frame.Ended{Status: status})
		return
	}
	defer p.close()
	s.out.Write(frame.Started, nil)
	s.attach(p)
	var pumps sync.WaitGroup
	pumps.Go(func() { s.pump(p, p.out, frame.Output) })
	if p.errs != nil {
		pumps.Go(func() { s.pump(p, p.errs, frame.Errors) })
	}
	fed := make(chan struct{})
	go func() { defer close(fed); s.feed(p) }()
	select {
	case <-p.done:
	case <-ctx.Done():
		m.Cut = true
		p.end(b.host)
	}
	p.drain()
	pumps.Wait()
	m.Ended = p.ended
	s.exit(p.ended)
	s.in.Drop()
	p.close() // what feeds it may be held by something that it left
	<-fed
}

// errGone is a caller that was gone before its tool was started.
var errGone = errors.New("its caller was gone before it began")

func (s *session) exit(e frame.Ended) { s.out.Write(frame.Exit, e.Bytes()) }

// listen does what the caller says, until it says no more.
func (s *session) listen(from *frame.Reader) error {
	for {
		k, b, err := from.Next()
		if err != nil {
			return err
		}
		switch k {
		case frame.Input:
			if s.input += int64(len(b)); s.input > maxInput {
				return errors.New("more input than a call may have")
			}
			err = s.in.Put(b)
		case frame.InputEnd:
			s.in.End()
		case frame.Signal:
			if len(b) == 1 {
				s.signal(b[0])
			}
		case frame.Size:
			var size frame.WindowOf
			if size, err = frame.SizeOf(b); err == nil {
				s.resize(size)
			}
		case frame.Credit:
			err = s.credit(b)
		case frame.Broken:
			if len(b) == 1 {
				s.broken(frame.Kind(b[0]))
			}
		default:
			err = errors.New("a frame that no call has")
		}
		if err != nil {
			return err
		}
	}
}

func (s *session) credit(b []byte) error {
	stream, n, err := frame.CreditOf(b)
	if err != nil {
		return err
	}
	window := s.sent[stream]
	if window == nil {
		return errors.New("a credit for a stream that no call has")
	}
	return window.Give(n)
}

// attach gives the session its process, with what came for it before.
func (s *session) attach(p *process) {
	s.mu.Lock()
	s.p = p
	early := s.early
	s.mu.Unlock()
	if early != 0 {
		p.pass(early)
	}
}

// signal passes a signal on. One that comes while the call waits for an answer
// ends the wait.
func (s *session) signal(number uint8) {
	s.mu.Lock()
	p := s.p
	ends := false
	if p == nil {
		switch unix.Signal(number) {
		case unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGKILL:
			s.early, ends = number, true
		}
	}
	s.mu.Unlock()
	switch {
	case p != nil:
		p.pass(number)
	case ends:
		s.cancel()
	}
}

func (s *session) signalled() uint8 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.early
}

func (s *session) resize(size frame.WindowOf) {
	s.mu.Lock()
	p := s.p
	s.mu.Unlock()
	if p != nil && p.terminal {
		resize(p.in, size)
	}
}

// broken closes a stream that nobody reads inside, so that the tool is told as
// it would be there.
func (s *session) broken(stream frame.Kind) {
	window := s.sent[stream]
	if window == nil {
		return
	}
	window.Close()
	s.mu.Lock()
	p := s.p
	s.mu.Unlock()
	switch {
	case p == nil || p.terminal && stream == frame.Output:
	case stream == frame.Output:
		p.out.Close()
	case p.errs != nil:
		p.errs.Close()
	}
}

// feed gives the tool its input, as fast as it reads.
func (s *session) feed(p *process) {
	for {
		part, err := s.in.Take()
		if err != nil {
			if !p.terminal {
				p.in.Close()
			}
			return
		}
		if p.terminal {
			if at, is := p.suspend(part); is {
				p.in.Write(part[:at])
				p.signal(unix.SIGSTOP)
				s.out.Write(frame.Stopped, nil)
				n := len(part)
				part = part[at+1:]
				s.took(n - len(part))
			}
		}
		if _, err := p.in.Write(part); err != nil {
			s.in.Drop()
			s.out.Write(frame.InputClosed, nil)
			return
		}
		s.took(len(part))
	}
}

func (s *session) took(n int) {
	if n > 0 {
		s.in.Took(n)
		s.out.Write(frame.Credit, frame.CreditBytes(frame.Input, n))
	}
}

// pump carries one of the tool's streams, as fast as it is taken.
func (s *session) pump(p *process, from *os.File, stream frame.Kind) {
	b := make([]byte, frame.MaxPart)
	window, patient := s.sent[stream], p.patient(from)
	for {
		room := window.Take(len(b))
		if room == 0 {
			io.Copy(io.Discard, patient) // cut, or broken: it is not to hang on it
			return
		}
		n, err := patient.Read(b[:room])
		window.Give(room - n)
		if n > 0 && s.out.Write(stream, b[:n]) != nil {
			s.cancel()
		}
		if err != nil {
			s.out.Write(frame.OutputEnd, []byte{byte(stream)})
			return
		}
	}
}
