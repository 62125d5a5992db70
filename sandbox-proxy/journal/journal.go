package journal

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
)

var allowInvalid = jsontext.AllowInvalidUTF8(true)

const (
	// maxQueue bounds the lines that wait to be written.
	maxQueue = 4096
	// batchBytes is about how much is written at once.
	batchBytes = 64 << 10
	// againTime is how long nothing is tried after a failure.
	againTime = 5 * time.Second
	// Calls that are written down: a program that makes more in a second, to
	// write away what came before, has them counted instead.
	allowedPerSecond, allowedAtOnce = 200, 4000
	refusedPerSecond, refusedAtOnce = 20, 1000
	// closeTime bounds how long Close waits for a disk.
	closeTime = 2 * time.Second
)

// A Journal writes one sandbox's log. Its methods may be called from many
// goroutines; none waits for the disk but Close, and that for a while only.
type Journal struct {
	sandbox string
	allowed *rate.Limiter
	refused *rate.Limiter
	queue   chan Line
	lost    atomic.Uint64
	trouble func(error)
	file    file
	again   time.Duration
	done    chan struct{}
	once    sync.Once
	written chan struct{}
}

// Open begins a sandbox's log, which is made by the first line. Trouble is told
// of the first failure; nil tells nobody.
func Open(s client.SettingsFolder, sandbox string, trouble func(error)) *Journal {
	j := &Journal{
		sandbox: sandbox,
		allowed: rate.NewLimiter(allowedPerSecond, allowedAtOnce), refused: rate.NewLimiter(refusedPerSecond, refusedAtOnce),
		queue: make(chan Line, maxQueue), trouble: trouble, again: againTime,
		done: make(chan struct{}), written: make(chan struct{}),
	}
	path, err := s.Log(sandbox)
	if err != nil {
		j.tell(err)
	}
	j.file.path = path
	go j.run()
	return j
}

// Record writes down a call that is over: it is a proxy's Config.Ended.
func (j *Journal) Record(r proxy.Record) {
	limit := j.refused
	if r.Allowed {
		limit = j.allowed
	}
	if !limit.Allow() {
		j.lost.Add(1)
		return
	}
	j.Note(lineOf(r))
}

// Note writes down a line. Its sandbox is the journal's, and its time now where
// it has none.
func (j *Journal) Note(l Line) {
	l.Sandbox = j.sandbox
	if l.At.IsZero() {
		l.At = time.Now()
	}
	l.At = l.At.UTC().Truncate(time.Millisecond)
	select {
	case j.queue <- l:
	default:
		j.lost.Add(1)
	}
}

// Began notes that this process serves the sandbox.
func (j *Journal) Began() { j.Note(Line{What: Began, PID: os.Getpid()}) }

// Ended notes that it does no more.
func (j *Journal) Ended(status int) { j.Note(Line{What: Ended, PID: os.Getpid(), Status: &status}) }

// NotStarted notes that it does no more, and that its program was not started.
func (j *Journal) NotStarted() {
	j.Note(Line{What: Ended, PID: os.Getpid(), Detail: "its program was not started"})
}

// Close writes what waits. A disk that hangs is left to itself.
func (j *Journal) Close() {
	j.once.Do(func() { close(j.done) })
	select {
	case <-j.written:
	case <-time.After(closeTime):
	}
}

func (j *Journal) run() {
	defer close(j.written)
	defer j.file.close()
	var wait time.Time
	var batch bytes.Buffer
	for {
		var l Line
		select {
		case l = <-j.queue:
		case <-j.done:
			select {
			case l = <-j.queue:
			default:
				if lost := j.lost.Swap(0); lost > 0 && j.file.path != "" && !time.Now().Before(wait) {
					batch.Reset()
					add(&batch, Line{At: time.Now().UTC().Truncate(time.Millisecond), Sandbox: j.sandbox, What: Lost, N: lost})
					j.file.write(batch.Bytes())
				}
				return
			}
		}
		// Who else has something to do goes first: what many calls leave behind
		// is written at once.
		runtime.Gosched()
		batch.Reset()
		n := j.fill(&batch, l)
		if j.file.path == "" || time.Now().Before(wait) {
			j.lost.Add(n)
			continue
		}
		if lost := j.lost.Swap(0); lost > 0 {
			add(&batch, Line{At: l.At, Sandbox: j.sandbox, What: Lost, N: lost})
			n += lost
		}
		if err := j.file.write(batch.Bytes()); err != nil {
			j.tell(err)
			j.lost.Add(n)
			wait = time.Now().Add(j.again)
		}
	}
}

// fill takes what waits, as much as is written at once, and says how many lines
// that are.
func (j *Journal) fill(batch *bytes.Buffer, l Line) (n uint64) {
	for {
		add(batch, l)
		n++
		if batch.Len() >= batchBytes {
			return n
		}
		select {
		case l = <-j.queue:
		default:
			return n
		}
	}
}

func add(batch *bytes.Buffer, l Line) {
	if b, err := l.write(); err == nil && len(b) <= maxLine {
		batch.Write(b)
	}
}

// tell tells of the first failure.
func (j *Journal) tell(err error) {
	if j.trouble != nil {
		j.trouble(err)
		j.trouble = nil
	}
}
