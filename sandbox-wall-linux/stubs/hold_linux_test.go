package stubs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A place is a work folder and a store for one test.
type place struct {
	t     *testing.T
	top   string
	work  string
	store *Store
}

func newPlace(t *testing.T) *place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, top: top, work: top + "/work", store: NewStore(top + "/settings/sandbox/stubs")}
	if err := os.Mkdir(p.work, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) wants() []Want {
	return []Want{{Path: p.work + "/.git"}, {Path: p.work + "/.envrc"}, {Path: p.work + "/note", File: true, Text: ".\n"}}
}

func (p *place) hold() *Held { p.t.Helper(); return holdIn(p.t, p.store, p.wants()) }

func holdIn(t *testing.T, s *Store, wants []Want) *Held {
	t.Helper()
	h, err := s.Hold(wants)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func release(t *testing.T, h *Held) Report {
	t.Helper()
	r, err := h.Release()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names gives what is in a folder, hidden files too.
func names(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// clean fails when a stub or a record is left.
func (p *place) clean() {
	p.t.Helper()
	if left := names(p.t, p.work); len(left) > 0 {
		p.t.Errorf("left in the work folder: %v", left)
	}
	p.noRecords()
}

func (p *place) noRecords() {
	p.t.Helper()
	if left := names(p.t, p.store.dir); len(left) > 0 && !slices.Equal(left, []string{lockName}) {
		p.t.Errorf("left in the store: %v", left)
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	i, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return i.Mode()
}

func TestHoldAndRelease(t *testing.T) {
	p := newPlace(t)
	h := p.hold()
	if got := names(t, p.work); !slices.Equal(got, []string{".envrc", ".git", "note"}) {
		t.Errorf("held: %v", got)
	}
	if m := mode(t, p.work+"/.git"); !m.IsDir() || m&os.ModeSticky == 0 || m.Perm()&0o700 != 0o700 {
		t.Errorf("a stub is %v", m)
	}
	if text, err := os.ReadFile(p.work + "/note"); err != nil || string(text) != ".\n" {
		t.Errorf("note: %q, %v", text, err)
	}
	if m := mode(t, p.store.dir); m.Perm() != 0o700 {
		t.Errorf("the store is %v", m)
	}
	record := filepath.Join(p.store.dir, h.Record())
	if m := mode(t, record); m.Perm() != 0o600 {
		t.Errorf("the record is %v", m)
	}
	f, err := os.OpenFile(record, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != unix.EWOULDBLOCK {
		t.Errorf("the record is not locked: %v", err)
	}
	if r, err := p.store.Sweep(); err != nil || len(r.Removed)+len(r.Kept)+len(r.Taken)+len(r.Lost) > 0 {
		t.Errorf("a sweep of a live run: %+v, %v", r, err)
	}
	if r := release(t, h); len(r.Removed) != 3 || len(r.Kept)+len(r.Taken)+len(r.Lost) > 0 {
		t.Errorf("released: %+v", r)
	}
	if r := release(t, h); len(r.Removed) > 0 {
		t.Errorf("released twice: %+v", r)
	}
	p.clean()
}

func TestNothingToHold(t *testing.T) {
	p := newPlace(t)
	h := holdIn(t, p.store, nil)
	if h.File() != nil || h.Record() != "" {
		t.Error("a record of nothing")
	}
	release(t, h)
	if _, err := os.Stat(p.store.dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("a store for nothing")
	}
	if _, err := p.store.Sweep(); err != nil {
		t.Error(err)
	}
}

// What somebody has under the name stays as it is, whatever it is.
func TestNamesThatAreTaken(t *testing.T) {
	p := newPlace(t)
	kinds := map[string]func(string) error{
		"empty": func(at string) error { return os.Mkdir(at, 0o755) },
		"full":  func(at string) error { return os.MkdirAll(at+"/x", 0o755) },
		"sticky": func(at string) error {
			return errors.Join(os.MkdirAll(at+"/x", 0o755), os.Chmod(at, 0o755|os.ModeSticky))
		},
		"file": func(at string) error { return os.WriteFile(at, nil, 0o644) },
		"link": func(at string) error { return os.Symlink("/nowhere", at) },
		"fifo": func(at string) error { return unix.Mkfifo(at, 0o644) },
	}
	var wants []Want
	before := map[string]os.FileMode{}
	for name, put := range kinds {
		at := p.work + "/" + name
		if err := put(at); err != nil {
			t.Fatal(err)
		}
		before[at] = mode(t, at)
		wants = append(wants, Want{Path: at}, Want{Path: at, File: true})
	}
	h := holdIn(t, p.store, append(wants, Want{Path: p.work + "/free"}))
	if got := h.Taken(); len(got) != len(kinds) {
		t.Errorf("taken: %v", got)
	}
	if r := release(t, h); !slices.Equal(r.Removed, []string{p.work + "/free"}) || len(r.Taken) > 0 {
		t.Errorf("%+v", r)
	}
	for at, m := range before {
		if mode(t, at) != m {
			t.Errorf("%s was %v and is %v", at, m, mode(t, at))
		}
	}
	p.noRecords()
}

// What is put into a stub while the sandbox runs stays and is reported.
func TestContentStays(t *testing.T) {
	p := newPlace(t)
	h := p.hold()
	if out, err := exec.Command("git", "init", "-q", p.work).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	if err := os.WriteFile(p.work+"/note", []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := release(t, h)
	if !slices.Equal(r.Taken, []string{p.work + "/.git", p.work + "/note"}) || !slices.Equal(r.Removed, []string{p.work + "/.envrc"}) {
		t.Errorf("%+v", r)
	}
	if out, err := exec.Command("git", "-C", p.work, "status").CombinedOutput(); err != nil {
		t.Errorf("git status: %v\n%s", err, out)
	}
	if text, _ := os.ReadFile(p.work + "/note"); string(text) != "mine" {
		t.Errorf("note: %q", text)
	}
	for _, name := range []string{".git", "note"} {
		if m := mode(t, p.work+"/"+name); m&os.ModeSticky != 0 {
			t.Errorf("%s still carries the mark: %v", name, m)
		}
	}
	if got := names(t, p.work); !slices.Equal(got, []string{".git", "note"}) {
		t.Errorf("%v", got)
	}
	p.noRecords()
}

// Somebody who removes a stub and makes something of theirs keeps it, even when
// it is empty and has the same inode number.
func TestReplacedStubStays(t *testing.T) {
	p := newPlace(t)
	h := p.hold()
	for _, err := range []error{
		os.Remove(p.work + "/.git"), os.Mkdir(p.work+"/.git", 0o755),
		os.Remove(p.work + "/.envrc"), os.WriteFile(p.work+"/.envrc", []byte("x"), 0o644),
		os.Remove(p.work + "/note"), os.WriteFile(p.work+"/note", []byte(".\n"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := release(t, h); len(r.Taken) != 3 || len(r.Removed) > 0 {
		t.Errorf("%+v", r)
	}
	if got := names(t, p.work); len(got) != 3 {
		t.Errorf("%v", got)
	}
}

func TestStubsOutliveAllButTheLast(t *testing.T) {
	for _, stores := range []int{1, 2} {
		for _, first := range []int{0, 1} {
			p := newPlace(t)
			s := []*Store{p.store, NewStore(p.top + "/other/stubs")}
			h := []*Held{holdIn(t, s[0], p.wants()), holdIn(t, s[stores-1], p.wants())}
			if taken := h[1].Taken(); len(taken) > 0 {
				t.Errorf("%d stores: the second found %v taken", stores, taken)
			}
			if r := release(t, h[first]); len(r.Kept) != 3 || len(r.Removed) > 0 {
				t.Errorf("%d stores, %d first: %+v", stores, first, r)
			}
			if got := names(t, p.work); len(got) != 3 {
				t.Errorf("%d stores: the stubs of a running one are gone: %v", stores, got)
			}
			if r := release(t, h[1-first]); len(r.Removed) != 3 {
				t.Errorf("%d stores, %d last: %+v", stores, 1-first, r)
			}
			p.clean()
			if left := names(t, s[1].dir); len(left) > 1 {
				t.Errorf("left in the other store: %v", left)
			}
		}
	}
}

// One long run and forty short ones beside it, at once.
func TestFortyBesideOne(t *testing.T) {
	p := newPlace(t)
	long := p.hold()
	errs := make(chan error)
	for range 40 {
		go func() {
			h, err := p.store.Hold(p.wants())
			if err != nil {
				errs <- err
				return
			}
			if len(h.Taken()) > 0 {
				errs <- errors.New("found them taken")
				return
			}
			for _, w := range p.wants() {
				if _, err := os.Lstat(w.Path); err != nil {
					errs <- err
					return
				}
			}
			r, err := h.Release()
			if err == nil && len(r.Removed)+len(r.Taken)+len(r.Lost) > 0 {
				err = errors.New("removed what the long one needs")
			}
			errs <- err
		}()
	}
	for range 40 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if r := release(t, long); len(r.Removed) != 3 {
		t.Errorf("%+v", r)
	}
	p.clean()
}

// What cannot be made is an error of its own kind, and then nothing is left of
// the rest.
func TestCannotMake(t *testing.T) {
	p := newPlace(t)
	where := "/proc/.envrc" // where root cannot either
	if os.Getuid() != 0 {
		where = p.top + "/closed/.envrc"
		if err := os.Mkdir(p.top+"/closed", 0o555); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{where, p.work + "/missing/.envrc"} {
		_, err := p.store.Hold(append(p.wants(), Want{Path: bad}))
		var e *Error
		if !errors.Is(err, ErrCannotMake) || !errors.As(err, &e) || e.Path != bad {
			t.Errorf("%s: %v", bad, err)
		}
		p.clean()
	}
}

// A full disk, as a limit on what a file may hold: nothing is made that is not
// written down.
func TestRecordCannotBeWritten(t *testing.T) {
	p := newPlace(t)
	out, err := playWith(t, p, "", "hold-limited").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "file too large") {
		t.Errorf("%v: %s", err, out)
	}
	p.clean()
}

func TestStoreOfOthersIsRefused(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(p.store.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Hold(p.wants()); err == nil || !strings.Contains(err.Error(), "want 0700") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(p.store.dir); err != nil {
		t.Fatal(err)
	}
	elsewhere := p.top + "/elsewhere"
	if err := errors.Join(os.Mkdir(elsewhere, 0o700), os.Symlink(elsewhere, p.store.dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Hold(p.wants()); err == nil {
		t.Error("a store that is a link was used")
	}
	if _, err := p.store.Sweep(); err == nil {
		t.Error("a store that is a link was swept")
	}
	if got := append(names(t, p.work), names(t, elsewhere)...); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// A umask that takes its owner's rights away leaves nothing that could not be
// removed again.
func TestUmask(t *testing.T) {
	for _, role := range []string{"umask-077", "umask-777"} {
		p := newPlace(t)
		out, err := playWith(t, p, "", role).CombinedOutput()
		if blind := role == "umask-777" && os.Getuid() != 0; err != nil || blind != strings.Contains(string(out), ErrCannotMake.Error()) {
			t.Errorf("%s: %v: %s", role, err, out)
		}
		p.clean()
	}
}

func TestLockHasABound(t *testing.T) {
	path := t.TempDir() + "/lock"
	a, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := lockWithin(int(a.Fd()), time.Second); err != nil {
		t.Fatal(err)
	}
	if err := lockWithin(int(b.Fd()), 20*time.Millisecond); err != ErrBusy {
		t.Errorf("%v", err)
	}
	// Past the first tries it waits in turn, and has it when it is free.
	go func() {
		time.Sleep(10 * inTurn)
		a.Close()
	}()
	if err := lockWithin(int(b.Fd()), time.Minute); err != nil {
		t.Errorf("%v", err)
	}
}

// What is wrong with the settings says where, and what to do about it.
func TestStoreCannotBeMade(t *testing.T) {
	top := t.TempDir()
	if err := os.WriteFile(top+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(top+"/open", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(top+"/open", 0o777); err != nil {
		t.Fatal(err)
	}
	for dir, hint := range map[string]bool{"/file/stubs": true, "/file": true, "/open": false} {
		_, err := NewStore(top + dir).Hold([]Want{{Path: top + "/.git"}})
		var e *StoreError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "settings: "+top+"/") || strings.Contains(err.Error(), "LNK_HOME") != hint {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// What a program does to the mode of its own folder keeps no stub there, and
// stays as it did it.
func TestReleaseFromShutFolder(t *testing.T) {
	for _, mode := range []os.FileMode{0o555, 0o444, 0} {
		dir := t.TempDir()
		store := NewStore(filepath.Join(t.TempDir(), "store"))
		h, err := store.Hold([]Want{{Path: dir + "/.git"}, {Path: dir + "/file", File: true, Text: "x"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		r, err := h.Release()
		if err != nil || len(r.Removed) != 2 {
			t.Errorf("%o: %+v, %v", mode, r, err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%o: now %v, %v", mode, info.Mode(), err)
		}
		os.Chmod(dir, 0o755)
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%o: left %v, %v", mode, left, err)
		}
	}
}
