package stubs

import (
	"errors"
	"os"
	"path"
	"sync"

	"golang.org/x/sys/unix"
)

// Held are the stubs of one run.
type Held struct {
	store  *Store
	record string
	file   *os.File
	taken  []string

	mu      sync.Mutex
	entries []entry
	folders map[string]int // the folders that the stubs are in, by path
	locks   []int          // the stubs, locked shared
	done    bool
}

// Hold takes the names. Those that something has already are not taken: see
// [Held.Taken]. On an error, which is an [Error] where it is about one name,
// nothing is left.
func (s *Store) Hold(wants []Want) (*Held, error) {
	h := &Held{store: s, folders: map[string]int{}}
	if len(wants) == 0 {
		h.done = true
		return h, nil
	}
	if err := checkWants(wants); err != nil {
		return nil, err
	}
	o, err := s.open()
	if err != nil {
		return nil, err
	}
	defer o.close()
	runs, err := o.runs("")
	if err != nil {
		return nil, err
	}
	defer closeRuns(runs)
	o.sweep(runs) // a stub that a killed run left would look like somebody's
	if err := h.prepare(wants); err != nil {
		h.closeAll()
		return nil, err
	}
	if h.record, h.file, err = o.create(); err != nil {
		h.closeAll()
		return nil, err
	}
	if err := h.take(); err != nil {
		h.undo(o, runs)
		return nil, err
	}
	return h, nil
}

// prepare opens the folders that the stubs go into.
func (h *Held) prepare(wants []Want) error {
	in := map[string]Node{}
	seen := map[string]bool{}
	for _, w := range wants {
		dir := path.Dir(w.Path)
		if _, open := h.folders[dir]; !open {
			fd, is, err := openFolder(w.Path, w.In)
			if err != nil {
				return err
			}
			h.folders[dir], in[dir] = fd, is
		}
		if w.In != (Node{}) && w.In != in[dir] {
			return &Error{Path: w.Path, Kind: ErrMoved}
		}
		if !seen[w.Path] {
			seen[w.Path] = true
			h.entries = append(h.entries, entry{Path: w.Path, In: in[dir], File: w.File, Text: w.Text})
		}
	}
	return nil
}

// take writes down what will be made, makes it, and writes down what was.
func (h *Held) take() error {
	if err := h.write(); err != nil {
		return err
	}
	var kept []entry
	for i := range h.entries {
		e := &h.entries[i]
		fd, err := take(h.folders[path.Dir(e.Path)], e)
		switch {
		case err == nil:
			h.locks = append(h.locks, fd)
			kept = append(kept, *e)
		case errors.Is(err, errTaken):
			h.taken = append(h.taken, e.Path)
		default:
			return err
		}
	}
	h.entries = kept
	return h.write()
}

// write appends the entries in one piece.
func (h *Held) write() error {
	text, err := writeEntries(h.entries)
	switch {
	case err != nil:
	case 2*len(text) > maxRecord:
		err = errors.New("names and texts are too long to be written down")
	default:
		_, err = h.file.Write(text)
	}
	if err != nil {
		return h.store.broken(h.record, err)
	}
	return nil
}

// Taken are names that something has: they are not the run's, and whoever
// counted on a stub looks again at what is there.
func (h *Held) Taken() []string { return h.taken }

// File is the locked record, for bubblewrap's --sync-fd; nil when no name was
// asked for. It stays the Held's: do not close it.
func (h *Held) File() *os.File { return h.file }

// Record names the run, for [Store.Await]; empty when no name was asked for.
func (h *Held) Record() string { return h.record }

// Release removes the stubs that no other run needs. It is called when the
// sandbox has ended; again it does nothing.
func (h *Held) Release() (Report, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		return Report{}, nil
	}
	o, err := h.store.reopen()
	if err != nil {
		return Report{}, err
	}
	defer o.close()
	runs, err := o.runs(h.record)
	if err != nil {
		return Report{}, err
	}
	defer closeRuns(runs)
	return h.undo(o, runs)
}

// undo removes the stubs, in the folders in which they were made, wherever
// those are now, and then the record.
func (h *Held) undo(o *opened, runs []*run) (Report, error) {
	h.unlock()
	var r Report
	need := listed(runs)
	for _, e := range h.entries {
		folder := h.folders[path.Dir(e.Path)]
		if !need[e.Path] {
			r.note(e.Path, remove(folder, e))
			continue
		}
		fd, f := look(folder, e)
		if f == needed {
			unix.Close(fd)
		}
		r.note(e.Path, f)
	}
	h.done = true
	err := o.forget(h.record, h.file)
	h.closeAll()
	if err != nil {
		return r, h.store.broken(h.record, err)
	}
	return r, nil
}

func (h *Held) unlock() {
	for _, fd := range h.locks {
		unix.Close(fd)
	}
	h.locks = nil
}

func (h *Held) closeAll() {
	h.unlock()
	for _, fd := range h.folders {
		unix.Close(fd)
	}
	h.folders = nil
}
