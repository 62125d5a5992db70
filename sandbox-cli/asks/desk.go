package asks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool"
)

const (
	// OnTerminal is how long a question stands on a terminal, Alone how long it
	// waits where there is none: for somebody who comes to look.
	OnTerminal = 5 * time.Minute
	Alone      = time.Minute
)

// Config is what a desk is made of.
type Config struct {
	_ [0]func()

	// Folder is where sockets of desks are: the asks folder of the settings.
	Folder string
	// Terminal is whether a question may be put on the terminal of this
	// process: whoever started it is at it.
	Terminal bool
	// OnTerminal and Alone are how long questions wait.
	OnTerminal, Alone time.Duration
	// Tell is told, in one line, of a question that waits with no terminal to
	// stand on. Nil tells nobody.
	Tell func(line string)
}

// A Desk is where one proxy's questions wait. It is a [tool.Asker].
type Desk struct {
	config Config
	turn   chan struct{} // one question at a time is on the terminal

	mu      sync.Mutex
	program int // the process below which the program runs
	waiting map[string]*waiting
	count   int
	socket  *socket
	closed  bool
	denied  int // in a row
	last    time.Time
}

// waiting is a question without an answer.
type waiting struct {
	Question
	taken  atomic.Bool
	answer chan bool // room for one
}

// A Question is one that waits, as others read it.
type Question struct {
	_ [0]func()

	// ID names it, to answer it.
	ID string `json:"id"`
	// Sandbox is whose program asks, Name the tool's name, or "open".
	Sandbox string `json:"sandbox"`
	Name    string `json:"name"`
	// Call is the whole command line as [tool.Shown] writes it, Folder where
	// it would run, in the same way; empty for a page that would be opened.
	Call   string `json:"call"`
	Folder string `json:"folder"`
	// Since is when it was asked, in Unix seconds.
	Since int64 `json:"since"`
}

// New makes a desk. It opens nothing before the first question.
func New(c Config) *Desk {
	return &Desk{config: c, turn: make(chan struct{}, 1), waiting: map[string]*waiting{}}
}

// Below says which process the program runs below: with it stands still what
// shares its terminal, while a question is on that.
func (d *Desk) Below(pid int) {
	d.mu.Lock()
	d.program = pid
	d.mu.Unlock()
}

// Close lets go of the socket. Questions that wait are answered with no.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	s := d.socket
	d.socket = nil
	for _, w := range d.waiting {
		w.take(false)
	}
	d.mu.Unlock()
	if s != nil {
		s.close()
	}
}

// take takes an answer, the first.
func (w *waiting) take(yes bool) bool {
	if !w.taken.CompareAndSwap(false, true) {
		return false
	}
	w.answer <- yes
	return true
}

// Ask puts a call to a person: see [tool.Asker].
func (d *Desk) Ask(ctx context.Context, q tool.Question, notice func(string)) error {
	w, err := d.put(q)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrNobody, err)
	}
	defer d.drop(w)
	shown := make(chan bool, 1) // that it stood on a terminal
	patience := d.config.OnTerminal
	on, stop := context.WithCancel(ctx)
	var terminal sync.WaitGroup
	terminal.Go(func() { shown <- d.config.Terminal && d.onTerminal(on, w) })
	defer func() { stop(); terminal.Wait() }()
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		select {
		case yes := <-w.answer:
			return d.settled(yes)
		case stood := <-shown:
			if stood {
				continue // and its answer is there, or the call is over
			}
			patience = d.config.Alone
			over.Reset(patience)
			line := "waits for an answer: lnk sandbox asks allow " + w.ID
			notice(line)
			if d.config.Tell != nil {
				d.config.Tell(w.Call + ": " + line)
			}
		case <-over.C:
			return fmt.Errorf("%w: none answered in %s", tool.ErrNobody, patience)
		case <-ctx.Done():
			return errors.New("the call was given up before it was answered")
		}
	}
}

// A person who has said no so often in a row is left alone for a while: else a
// program that asks and asks has the terminal to itself.
const (
	enough    = 3
	leftAlone = 20 * time.Second
)

// settled notes an answer.
func (d *Desk) settled(yes bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if yes {
		d.denied = 0
		return nil
	}
	d.denied, d.last = d.denied+1, time.Now()
	return tool.ErrDenied
}

// put has a question wait.
func (d *Desk) put(q tool.Question) (*waiting, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("the sandbox is at its end")
	}
	if d.denied >= enough {
		if time.Since(d.last) < leftAlone {
			return nil, fmt.Errorf("the answer was no %d times in a row: try again in %s", enough, leftAlone)
		}
		d.denied = 0
	}
	if d.socket == nil {
		s, err := d.open()
		if err != nil && !d.config.Terminal {
			return nil, err
		}
		d.socket = s
	}
	d.count++
	w := &waiting{answer: make(chan bool, 1), Question: Question{
		ID: fmt.Sprintf("%d-%d", os.Getpid(), d.count), Sandbox: q.Sandbox, Name: q.Name,
		Call: q.Shown(), Since: time.Now().Unix(),
	}}
	if !q.Page {
		w.Folder = tool.Shown([]string{q.Folder})
	}
	d.waiting[w.ID] = w
	return w, nil
}

func (d *Desk) drop(w *waiting) {
	d.mu.Lock()
	delete(d.waiting, w.ID)
	d.mu.Unlock()
}

// pending gives what waits.
func (d *Desk) pending() []Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := []Question{}
	for _, w := range d.waiting {
		all = append(all, w.Question)
	}
	return all
}

// answer takes an answer from elsewhere.
func (d *Desk) answer(id string, yes bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.waiting[id]; w == nil || !w.take(yes) {
		return errAnswered
	}
	return nil
}

var errAnswered = errors.New("no such question waits: it was answered, or given up")

// name is the socket's name in the folder.
func name(pid int) string { return fmt.Sprintf("%d.sock", pid) }

// Folder is the folder of desks' sockets in the sandbox's part of the settings.
func Folder(sandbox string) string { return filepath.Join(sandbox, "asks") }
