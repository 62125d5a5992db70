package shim

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// A running call is this process's side of it.
type running struct {
	call Call
	to   *frame.Writer
	sent *frame.Window // of input
	got  map[frame.Kind]*stream
	tty  *terminal
}

// A stream is one of the tool's, on its way to one of this process's.
type stream struct {
	queue *frame.Queue
	file  *os.File
}

// run makes a call of a tool.
func (c Call) run() int {
	at, err := dial(c.address)
	if err != nil {
		c.say(err.Error())
		return StatusRefused
	}
	defer at.Close()
	r := &running{
		call: c, sent: frame.NewWindow(), tty: terminalHere(),
		got: map[frame.Kind]*stream{
			frame.Output: {frame.NewQueue(), os.Stdout},
			frame.Errors: {frame.NewQueue(), os.Stderr},
		},
	}
	first, err := r.describe(at)
	if err != nil {
		c.say(err.Error())
		return StatusRefused
	}
	signals := make(chan os.Signal, 32)
	signal.Notify(signals, watched...)
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU) // a read of input in the background fails instead
	body := &chunks{w: at}
	if _, err := at.Write(first); err != nil {
		c.say("the sandbox's proxy is gone")
		return StatusRefused
	}
	answer, err := readAnswer(at)
	if err != nil {
		c.say("the sandbox's proxy gave no answer")
		return StatusRefused
	}
	if answer.status != 200 {
		c.say(answer.line())
		return StatusRefused
	}
	r.to = frame.NewWriter(body, nil)
	defer r.tty.restore()
	go r.pass(signals)
	return r.follow(frame.NewReader(answer.body))
}

// describe gives the request's head and the call's description behind it.
func (r *running) describe(at *proxy) ([]byte, error) {
	head := "POST " + at.path + " HTTP/1.1\r\nHost: " + at.host + "\r\nContent-Type: " + frame.ContentType +
		"\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
	var frames []byte
	var err error
	add := func(k frame.Kind, b []byte) {
		if err == nil {
			frames, err = frame.Append(frames, k, b)
		}
	}
	for _, arg := range r.call.args {
		add(frame.Word, []byte(arg))
	}
	// The kernel's word on where this is: PWD is the program's.
	if dir, e := unix.Getwd(); e == nil {
		add(frame.Folder, []byte(dir))
	}
	if r.tty != nil {
		add(frame.Terminal, frame.TerminalBytes(r.tty.size(), r.tty.errorsToo))
	}
	add(frame.Go, nil)
	if err != nil {
		return nil, errors.New("a word of the call is longer than a call may have")
	}
	out := &sink{b: []byte(head)}
	for c := (&chunks{w: out}); len(frames) > 0; {
		n := min(len(frames), frame.MaxPayload)
		c.Write(frames[:n])
		frames = frames[n:]
	}
	return out.b, nil
}

type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }

// follow does what the bridge says, until the call has ended.
func (r *running) follow(from *frame.Reader) int {
	var streams sync.WaitGroup
	for kind, s := range r.got {
		streams.Go(func() { r.output(kind, s) })
	}
	status, err := r.listen(from)
	for _, s := range r.got {
		s.queue.End()
	}
	streams.Wait()
	r.tty.restore()
	if err != nil {
		r.call.say("the call was cut off")
		return StatusRefused
	}
	return status
}

// listen reads what the bridge says. It never waits for a stream of this
// process: each has room for all that may come.
func (r *running) listen(from *frame.Reader) (int, error) {
	for {
		k, b, err := from.Next()
		if err != nil {
			return 0, err
		}
		switch k {
		case frame.Output, frame.Errors:
			err = r.got[k].queue.Put(b)
		case frame.OutputEnd:
			if len(b) == 1 && r.got[frame.Kind(b[0])] != nil {
				r.got[frame.Kind(b[0])].queue.End()
			}
		case frame.Credit:
			var n int
			if _, n, err = frame.CreditOf(b); err == nil {
				err = r.sent.Give(n)
			}
		case frame.InputClosed:
			r.sent.Close()
			os.Stdin.Close()
		case frame.Started:
			r.tty.raw()
			go r.input()
		case frame.Stopped:
			r.stop()
		case frame.Notice:
			r.call.say(string(b))
		case frame.Refused:
			r.tty.restore()
			r.call.say(string(b))
			return StatusRefused, nil
		case frame.Exit:
			ended, err := frame.ExitOf(b)
			if err != nil {
				return 0, err
			}
			return r.end(ended), nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// end is called with how the tool ended: what it said is out before.
func (r *running) end(e frame.Ended) int {
	if e.Signal == 0 {
		return int(e.Status)
	}
	for _, s := range r.got {
		s.queue.End()
		<-s.queue.Done()
	}
	r.tty.restore()
	dieOf(syscall.Signal(e.Signal), r.tty != nil)
	return 128 + int(e.Signal)
}

// input sends this process's input as the tool takes it.
func (r *running) input() {
	b := make([]byte, frame.MaxPart)
	for {
		room := r.sent.Take(len(b))
		if room == 0 {
			return
		}
		n, err := os.Stdin.Read(b[:room])
		r.sent.Give(room - n)
		if n > 0 && r.to.Write(frame.Input, b[:n]) != nil {
			return
		}
		if errors.Is(err, syscall.EIO) && term.IsTerminal(0) {
			time.Sleep(backgroundWait) // in the background: the terminal is another's
			continue
		}
		if err != nil {
			r.to.Write(frame.InputEnd, nil)
			return
		}
	}
}

// backgroundWait is how often a process in the background looks whether the
// terminal is its own again.
const backgroundWait = 200 * time.Millisecond

// output writes one of the tool's streams to this process's.
func (r *running) output(kind frame.Kind, s *stream) {
	defer s.queue.Finish()
	for {
		part, err := s.queue.Take()
		if err == io.EOF {
			return
		}
		if _, err := s.file.Write(part); err != nil {
			s.queue.Drop()
			r.to.Write(frame.Broken, []byte{byte(kind)})
			return
		}
		s.queue.Took(len(part))
		r.to.Write(frame.Credit, frame.CreditBytes(kind, len(part)))
	}
}
