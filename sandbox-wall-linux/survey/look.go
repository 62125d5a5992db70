package survey

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// An Order is where to look.
type Order struct {
	// Roots are folders, looked at and below in this order.
	Roots []string
	// Except are paths that are not gone into.
	Except []string
	// Late says whether the time is up; nil is never.
	Late func() bool
}

// A task is a folder to look at. heavy is the folder above it, or itself, for
// which it was put off.
type task struct {
	path, heavy string
	root        bool // one that was named
}

// Look walks. list lists a folder; what it cannot list it gives no entries of,
// and shut is whether whoever owns the folder could have it listed.
func Look(list func(dir string) (entries []Entry, shut bool), o Order) Found {
	w := begin(list, o)
	w.run()
	return w.found
}

func begin(list func(dir string) (entries []Entry, shut bool), o Order) *walk {
	w := &walk{list: list, late: o.Late, except: map[string]bool{}}
	for _, path := range o.Except {
		w.except[path] = true
	}
	for _, root := range o.Roots {
		if !w.except[root] {
			w.now = append(w.now, task{path: root, root: true})
		}
		// One root in another is walked once, as its own.
		w.except[root] = true
	}
	return w
}

// run walks until all was looked at, the time is up, or the walk was given up.
func (w *walk) run() {
	for w.step() {
	}
}

// step looks at the next folder, and says whether there is more to do.
func (w *walk) step() bool {
	w.mu.Lock()
	if len(w.now) == 0 {
		w.now, w.later = w.later, nil
	}
	if w.over = w.over || len(w.now) == 0; !w.over && w.isLate() {
		w.stop()
	}
	if w.over {
		w.mu.Unlock()
		return false
	}
	t := w.now[0]
	w.mu.Unlock()
	entries, shut := w.list(t.path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false // it was given up meanwhile
	}
	w.now = w.now[1:]
	w.look(t, entries, shut)
	return true
}

// within walks by run, and gives the walk up where that takes longer.
func (w *walk) within(limit time.Duration, run func()) Found {
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	enough := time.NewTimer(limit)
	defer enough.Stop()
	select {
	case <-done:
	case <-enough.C:
	}
	return w.giveUp()
}

// giveUp ends the walk where it is, as the time does: the folder that is being
// listed was not reached. Nothing of the walk changes any more.
func (w *walk) giveUp() Found {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.stop()
	}
	return w.found
}

type walk struct {
	list   func(string) ([]Entry, bool)
	late   func() bool
	except map[string]bool

	mu         sync.Mutex
	now, later []task
	found      Found
	over       bool
}

func (w *walk) isLate() bool { return w.late != nil && w.late() }

// stop ends it, and names what was not reached: what was put off by the folder
// that it was put off for.
func (w *walk) stop() {
	w.over = true
	seen := map[string]bool{}
	for _, t := range append(w.now, w.later...) {
		at := t.path
		if t.heavy != "" {
			at = t.heavy
		}
		if !seen[at] {
			seen[at] = true
			w.found.Unseen = append(w.found.Unseen, at)
		}
	}
}

func (w *walk) look(t task, entries []Entry, shut bool) {
	if shut {
		w.found.Shut = append(w.found.Shut, t.path)
	}
	// Three empty files make one of any folder, so that what is in it is looked
	// at as ever; what git would keep there comes last.
	bare := isBare(entries)
	if bare {
		w.found.Repositories = append(w.found.Repositories, Repository{Path: t.path, Bare: true})
	}
	repository := slices.ContainsFunc(entries, func(e Entry) bool { return e.Name == gitName && e.Kind != Other })
	for _, e := range entries {
		at := join(t.path, e.Name)
		if w.except[at] {
			continue
		}
		switch {
		case e.Name == gitName && e.Kind != Socket && e.Kind != Other:
			w.found.Repositories = append(w.found.Repositories, Repository{Path: at})
			continue
		case e.Kind == Socket:
			w.found.Sockets = append(w.found.Sockets, at)
			continue
		case repository && beside[e.Name]:
			w.found.Beside = append(w.found.Beside, at)
		}
		w.watch(at, e, t.root || repository)
		if e.Kind == Folder {
			w.enqueue(task{path: at, heavy: t.heavy}, last[e.Name] || bare && slices.Contains(bareNames[:], e.Name))
		}
	}
}

func (w *walk) enqueue(t task, last bool) {
	switch {
	case t.heavy != "":
		w.now = append(w.now, t)
	case last:
		t.heavy = t.path
		w.later = append(w.later, t)
	default:
		w.now = append(w.now, t)
	}
}

// watch notes a name that is acted on. top says that its folder is one that was
// named, or a repository's.
func (w *walk) watch(at string, e Entry, top bool) {
	inside, is := watched[e.Name]
	switch {
	case !is, atTop[e.Name] && !top:
	case inside == nil || e.Kind != Folder:
		w.found.Watched = append(w.found.Watched, at)
	default:
		for _, name := range inside {
			w.found.Watched = append(w.found.Watched, join(at, name))
		}
	}
}

// isBare says whether a folder is a repository by itself.
func isBare(entries []Entry) bool {
	n := 0
	for _, e := range entries {
		if slices.Contains(bareNames[:], e.Name) && e.Kind != Other && e.Kind != Socket {
			n++
		}
	}
	return n == len(bareNames)
}

func join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}
