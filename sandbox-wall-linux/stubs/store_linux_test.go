package stubs

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What stands in the store and is no record of a run is named, and waited for
// by nobody.
func TestStoreHoldsRecordsAlone(t *testing.T) {
	for name, put := range map[string]func(at string) error{
		"a FIFO":   func(at string) error { return unix.Mkfifo(at, 0o600) },
		"a folder": func(at string) error { return os.Mkdir(at, 0o700) },
		"a link":   func(at string) error { return os.Symlink("/etc/passwd", at) },
	} {
		dir := t.TempDir() + "/stubs"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(dir+"/"+lockName, nil, 0o600), put(dir+"/zz"+recordSuffix)); err != nil {
			t.Fatal(err)
		}
		if _, err := NewStore(dir).Sweep(); err == nil || !strings.Contains(err.Error(), "zz"+recordSuffix) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Settings that are somebody else's are told to be, and nothing else is.
func TestStoreOfAnother(t *testing.T) {
	settings := "/etc" // root's
	if os.Getuid() == 0 {
		settings = t.TempDir()
		if err := os.Mkdir(settings+"/sandbox", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(settings+"/sandbox", 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	theirs := NewStore(settings + "/sandbox/stubs")
	for _, err := range []error{unix.EACCES, unix.EPERM} {
		if got := theirs.whose(err); !errors.Is(got, err) || !strings.Contains(got.Error(), "sudo chown -R ") || !strings.HasSuffix(got.Error(), " "+settings) {
			t.Errorf("%v", got)
		}
	}
	if got := theirs.whose(unix.ENOSPC); got != unix.ENOSPC {
		t.Errorf("%v", got)
	}
	if got := NewStore(t.TempDir() + "/sandbox/stubs").whose(unix.EACCES); got != unix.EACCES {
		t.Errorf("of our own: %v", got)
	}
}

// What keeps a stub from being made is told with what to do about it.
func TestStubThatCannotBeMade(t *testing.T) {
	for cause, want := range map[error]string{unix.EACCES: "make its folder writable, or let", unix.ENOSPC: "make room there (df -i), or let", unix.EDQUOT: "make room there"} {
		if got := (&Error{"/w/.envrc", ErrCannotMake, cause}).Error(); !strings.Contains(got, want) {
			t.Errorf("%v: %q", cause, got)
		}
	}
}

// In settings that were removed meanwhile, or are being, nothing is made again; what
// the run made elsewhere is taken away all the same.
func TestNothingIsMadeAgain(t *testing.T) {
	for name, what := range map[string]string{"all": "", "a part": "/sandbox/stubs/" + lockName} {
		for how, end := range map[string]func(*place, *Held) error{
			"released": func(_ *place, h *Held) error { _, err := h.Release(); return err },
			"awaited":  func(p *place, h *Held) error { _, err := p.store.end(h.Record(), h.File()); return err },
			"awaited late": func(p *place, h *Held) error {
				h.File().Close()
				_, err := p.store.Await(t.Context(), h.Record())
				return err
			},
			"swept": func(p *place, h *Held) error { _, err := p.store.Sweep(); return err },
		} {
			p := newPlace(t)
			h := p.hold()
			gone := p.top + "/settings" + what
			if err := os.RemoveAll(gone); err != nil {
				t.Fatal(err)
			}
			if err := end(p, h); err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if _, err := os.Lstat(gone); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s, %s: %s was made again: %v", name, how, gone, err)
			}
			if _, err := os.Lstat(p.work + "/.envrc"); how == "released" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s, %s: a stub is left: %v", name, how, err)
			}
		}
	}
}
