package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// A Tail reads logs as they grow: one sandbox's, or all. It changes nothing.
type Tail struct {
	dir  string
	only string // one sandbox's file, or ""
	open map[string]*reading
	// moved are those that were moved away: another process may have them open,
	// and write to them a little longer.
	moved map[string]*reading
}

// NewTail gives the log of a sandbox, or of every one where sandbox is "".
func NewTail(s client.SettingsFolder, sandbox string) (*Tail, error) {
	path, err := s.Log("all")
	if sandbox != "" {
		path, err = s.Log(sandbox)
	}
	if err != nil {
		return nil, err
	}
	t := &Tail{dir: filepath.Dir(path), open: map[string]*reading{}, moved: map[string]*reading{}}
	if sandbox != "" {
		t.only = path
	}
	return t, nil
}

// Read gives the lines that were written since it was last called, of each file
// in the order they were written. What is no line is left out.
func (t *Tail) Read(each func(Line)) error {
	paths := []string{t.only}
	if t.only == "" {
		names, err := t.Names()
		if err != nil {
			return err
		}
		paths = nil
		for _, name := range names {
			paths = append(paths, filepath.Join(t.dir, name+suffix))
		}
	}
	var all []error
	for _, path := range paths {
		all = append(all, t.read(path, each))
	}
	return errors.Join(all...)
}

// Names are the sandboxes of which something is kept.
func (t *Tail) Names() ([]string, error) {
	entries, err := os.ReadDir(t.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), suffix); is {
			names = append(names, name)
		}
	}
	return names, nil
}

// Close lets go of the files.
func (t *Tail) Close() {
	for _, all := range []map[string]*reading{t.open, t.moved} {
		for _, r := range all {
			r.f.Close()
		}
		clear(all)
	}
}

// read gives a file's new lines: of the one that was moved away, of the one
// that was open, then, if another lies in its place by now, of that.
func (t *Tail) read(path string, each func(Line)) error {
	r, moved := t.open[path], t.moved[path]
	if r == nil && moved == nil { // for the first time
		if first, err := openLog(path + firstSuffix); err == nil {
			first.read(each)
			first.f.Close()
		}
		if old, err := openLog(path + oldSuffix); err == nil {
			moved = old
			t.moved[path] = old
		}
	}
	if moved != nil {
		moved.read(each)
	}
	if r != nil {
		r.read(each)
		now, err := os.Lstat(path)
		mine, mineErr := r.f.Stat()
		if err == nil && mineErr == nil && os.SameFile(now, mine) {
			return nil
		}
		if moved != nil {
			moved.f.Close()
		}
		t.moved[path] = r
		delete(t.open, path)
	}
	r, err := openLog(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.open[path] = r
	r.read(each)
	return nil
}

// A reading is a file and what was read of a line that is not whole.
type reading struct {
	f    *os.File
	part []byte
}

func openLog(path string) (*reading, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a file")}
	}
	return &reading{f: f}, nil
}

func (r *reading) read(each func(Line)) {
	b := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(r.part), r.f), 2*maxLine)
	r.part = nil
	for {
		text, err := b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue // no line is so long: what follows its end is one again
		}
		if err != nil {
			r.part = append([]byte(nil), text...)
			return
		}
		if l, err := read(bytes.TrimSuffix(text, []byte("\n"))); err == nil {
			each(l)
		}
	}
}
