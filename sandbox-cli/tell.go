package cli

import (
	"fmt"
	"io"
	"sync"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// maxTold bounds how many refusals are told in one run; what is past it is
// counted.
const maxTold = 20

// teller tells the person who ran a sandbox what its proxy refused: each host
// and port once, at once, or at the end where the program has the terminal.
type teller struct {
	w    io.Writer
	on   bool
	late bool
	mode string // of the way

	mu    sync.Mutex
	seen  map[string]bool
	lines []string
	more  int

	direct bool // calls go by no upstream
	failed bool // a call came to nothing before

	upstream []string // what was told of the upstream
}

func newTeller(w io.Writer, f proxyFlags) *teller {
	return &teller{w: w, on: f.Tell, late: f.Terminal, mode: f.Mode, direct: f.upstreamIn == "" && (f.Upstream == "" || f.Upstream == defaultUpstream), seen: map[string]bool{}}
}

// tell notes one refusal: what was asked for, why not, and what would open it.
func (t *teller) tell(what, why string, open judge.Open) {
	line := "refused " + what + ": " + why + toOpen(opens(t.mode, open))
	if what == "" { // nothing that could be read named a host
		line, what = "refused a request: "+why, why
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.on || t.seen[what]:
	case len(t.seen) >= maxTold:
		t.more++
	default:
		t.seen[what] = true
		if t.late {
			t.lines = append(t.lines, line)
		} else {
			complainLine(t.w, "run", line)
		}
	}
}

// refused tells what a proxy refused; wire is what pause calls it.
func (t *teller) refused(r proxy.Refusal, wire string) {
	what, why := r.Target(), r.Detail
	if r.By == judge.ByServe {
		what = fmt.Sprintf("this machine's calls of its port %d", r.Port)
	}
	switch r.Reason {
	case proxy.Stopped:
		why += "; to open them again: " + startCommand
	case proxy.Paused:
		why += "; to go on: " + resumeCommand + wire
	}
	t.tell(what, why, r.Open)
}

// say tells what is no refusal, whether refusals are told or not.
func (t *teller) say(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.late {
		t.lines = append(t.lines, line)
	} else {
		complainLine(t.w, "run", line)
	}
}

// opens is what would open a call in a mode: a network of ports alone has no
// internet to switch on.
func opens(mode string, open judge.Open) judge.Open {
	if mode == wayLoopback && open == judge.NoInternetOpen {
		return judge.Open{Member: `network.mode = "proxied"`}
	}
	return open
}

// toOpen says what would open it: the flag, as whoever runs a program types it,
// or the member where there is no flag.
func toOpen(open judge.Open) string {
	switch {
	case open.Flag != "":
		return "; to open it: " + open.Flag
	case open.Member != "":
		return "; to open it: " + open.Member
	}
	return ""
}

// end tells what was held back.
func (t *teller) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.lines {
		complainLine(t.w, "run", line)
	}
	t.lines = nil
	if t.more > 0 {
		complainLine(t.w, "run", fmt.Sprintf("at least %d more calls were refused; to see them: lnk sandbox log", t.more))
		t.more = 0
	}
}
