package tool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/time/rate"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// Config is what the tools of one sandbox are run with.
type Config struct {
	_ [0]func()

	// Sandbox is the sandbox's name.
	Sandbox string
	// Environ is what a tool's environment is made of: the proxy's own.
	Environ []string
	// Write are the folders that the sandbox writes, Read those it reads, in
	// full: where a tool may be started. The first of Write that is a folder
	// is where it is when the caller is in none of them.
	Write, Read []string
	// Own are those of Write whose dot files the sandbox writes as well: what
	// git finds there is the program's to say.
	Own []string
	// Closed are paths in those that the sandbox does not see.
	Closed []string
	// Ask puts calls to a person. Nil is nobody.
	Ask Asker
	// Made is told of every call that is over, from many goroutines, with its
	// request's context. Nil tells nobody.
	Made func(context.Context, Made)
}

// A Host runs the tools of one sandbox. It holds the limits that they share.
type Host struct {
	config  Config
	environ []string
	beside  route.Beside // what the program writes
	folders folders
	safe    []string        // whose repositories the program cannot have made
	said    func() []string // what the user says of repositories
	limiter *rate.Limiter
	calls   chan struct{}
	asked   chan struct{}
	answers room
	reaper  reaper
	pages   pages

	ctx    context.Context // ends with the host
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// New makes the host of a sandbox's tools. It starts nothing.
func New(c Config) (*Host, error) {
	if c.Sandbox == "" {
		return nil, errors.New("tools need their sandbox's name: this is a bug of the caller")
	}
	for _, list := range [][]string{c.Write, c.Read, c.Closed} {
		for _, p := range list {
			if !filepath.IsAbs(p) || filepath.Clean(p) != p {
				return nil, fmt.Errorf("%q: not an absolute, clean path: this is a bug of the caller", p)
			}
		}
	}
	beside := route.Beside{Write: c.Write, Hide: c.Closed, Resolve: route.Follow(filepath.EvalSymlinks)}
	h := &Host{
		config: c, environ: environ(c.Environ, beside), beside: beside,
		limiter: rate.NewLimiter(callsPerSecond, callsAtOnce),
		calls:   make(chan struct{}, maxCalls), asked: make(chan struct{}, maxAsked),
	}
	h.pages.limiter = rate.NewLimiter(rate.Every(pageEvery), pagesAtOnce)
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.folders = openFolders(c.Write, c.Read, c.Closed)
	h.safe = safe(h.folders.written(c.Own))
	h.said = sync.OnceValue(h.gitSaid)
	return h, nil
}

// Close ends every call and waits for it.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.work.Wait()
	h.reaper.close()
	h.folders.close()
	return nil
}

// enter takes a place for a call, and waits where calls come too fast.
func (h *Host) enter(ctx context.Context) (leave func(), r *refusal) {
	ended := refuse(http.StatusServiceUnavailable, "the sandbox is at its end")
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, ended
	}
	select {
	case h.calls <- struct{}{}:
	default:
		h.mu.Unlock()
		return nil, refuse(http.StatusServiceUnavailable, "%d calls of tools are under way, as many as may be", maxCalls)
	}
	h.work.Add(1)
	h.mu.Unlock()
	leave = func() { <-h.calls; h.work.Done() }
	if h.limiter.Wait(ctx) != nil {
		leave()
		return nil, ended
	}
	return leave, nil
}

// judged is a call that may be made.
type judged struct {
	argv   []string
	folder *folder
}

func (j *judged) close() { j.folder.close() }

// judge holds a call to the tool's rules, and puts it to a person where they
// say so. The folder that is shown is the one that is held open.
func (h *Host) judge(ctx context.Context, name string, t route.Tool, words []string, dir string, notice func(string)) (*judged, error) {
	argv := append(append([]string{}, t.Argv...), words...)
	if r := checkWords(words); r != nil {
		return nil, r
	}
	if r := checkFolder(dir); r != nil {
		return nil, r
	}
	folder := h.folders.choose(dir)
	if t.Asks(words) {
		q := Question{Sandbox: h.config.Sandbox, Name: name, Argv: argv, Folder: folder.path}
		if err := h.ask(ctx, q, notice); err != nil {
			folder.close()
			return nil, err
		}
	}
	return &judged{argv, folder}, nil
}

// ask puts a question to a person.
func (h *Host) ask(ctx context.Context, q Question, notice func(string)) error {
	if h.config.Ask == nil {
		return refuse(http.StatusForbidden, "%v", ErrNobody)
	}
	if n := len(q.Shown()); n > maxShown {
		return refuse(http.StatusForbidden, "it has to be asked about, and %d bytes of words are too many to read", n)
	}
	select {
	case h.asked <- struct{}{}:
	default:
		return refuse(http.StatusServiceUnavailable, "%d calls wait for an answer, as many as may", maxAsked)
	}
	defer func() { <-h.asked }()
	if err := h.config.Ask.Ask(ctx, q, notice); err != nil {
		return refuse(http.StatusForbidden, "%v", err)
	}
	return nil
}

// bound is a context that ends with the host too.
func (h *Host) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// oneLine is text for a line of ours.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
