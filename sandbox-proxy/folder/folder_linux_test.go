package folder

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t *testing.T, mode os.FileMode) (*Folder, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "lnk-folder-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir, Anyone)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, dir
}

func TestListenAndDial(t *testing.T) {
	for mode, want := range map[os.FileMode]os.FileMode{0o700: 0o600, os.ModeSetgid | 0o770: 0o660} {
		f, dir := open(t, mode)
		l, err := f.Listen(Out)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, Out)
		if info, err := os.Lstat(at); err != nil || info.Mode().Perm() != want {
			t.Errorf("%v: %v, %v", mode, info, err)
		}
		c, err := f.Dial(t.Context(), Out, os.Geteuid())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if _, err := f.Listen(Out); !errors.Is(err, ErrServed) {
			t.Errorf("a second: %v", err)
		}
		l.Close()
		if _, err := os.Lstat(at); err == nil {
			t.Error("the socket is left")
		}
	}
}

// A socket that nothing listens on is replaced, what is no socket is not.
func TestListenReplaces(t *testing.T) {
	f, dir := open(t, 0o700)
	at := filepath.Join(dir, Out)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	again, err := f.Listen(Out)
	if err != nil {
		t.Fatal(err)
	}
	// What is put in its place meanwhile stays.
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again.Close()
	if _, err := os.Lstat(at); err != nil {
		t.Errorf("taken away: %v", err)
	}
	if _, err := f.Listen(Out); !errors.Is(err, ErrFolder) {
		t.Errorf("over a file: %v", err)
	}
}

// A link in the socket's place gets nobody's mode changed, and leads nowhere.
func TestLinks(t *testing.T) {
	f, dir := open(t, 0o700)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, nil, 0o604); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, Out)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.own(Out); err == nil {
		t.Error("a link is taken for a socket")
	}
	if info, err := os.Stat(victim); err != nil || info.Mode().Perm() != 0o604 {
		t.Errorf("the victim: %v, %v", info.Mode(), err)
	}
	elsewhere := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Symlink(elsewhere, filepath.Join(dir, In)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Dial(t.Context(), In, Anyone); err == nil {
		t.Error("a link is followed")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, Anyone); !errors.Is(err, ErrFolder) {
		t.Errorf("a link to a folder: %v", err)
	}
}

// The folder stays the one that was judged, whatever is put at its path.
func TestASwappedFolder(t *testing.T) {
	f, dir := open(t, 0o700)
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir + "-moved")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, In))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := f.Dial(t.Context(), In, Anyone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("dialled: %v", err)
	}
	if l, err := f.Listen(Out); err == nil {
		l.Close()
		t.Error("a socket was made in the folder that was put there")
	}
}

// Whose a socket is, and who listens on it, is asked of the socket.
func TestDialOfAnOwner(t *testing.T) {
	f, dir := open(t, 0o700)
	l, err := f.Listen(In)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const other = 61234
	if _, err := f.Dial(t.Context(), In, other); err == nil || !strings.Contains(err.Error(), "the socket is user") {
		t.Errorf("another's: %v", err)
	}
	if os.Geteuid() != 0 {
		return // only root can give a socket away
	}
	if err := os.Chown(filepath.Join(dir, In), other, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Dial(t.Context(), In, other); err == nil || !strings.Contains(err.Error(), "listens on the socket") {
		t.Errorf("another's by name, and ours: %v", err)
	}
}

// A path that is too long for a socket's is none for the folder.
func TestALongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := Make(dir); err != nil {
		t.Fatal(err)
	}
	if err := Make(dir); err != nil {
		t.Errorf("again: %v", err)
	}
	f, err := Open(dir, Anyone)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := f.Listen(Out)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := f.Dial(t.Context(), Out, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// A folder of the user's that others may enter is made private, unless it is
// somebody's for something else.
func TestMakeTightens(t *testing.T) {
	for what, c := range map[string]struct {
		fill string
		want os.FileMode
	}{"empty": {"", 0o700}, "with a socket of before": {Out, 0o700}, "with another file": {"mail", 0o755}} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if c.fill != "" {
			if err := os.WriteFile(filepath.Join(dir, c.fill), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Make(dir); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != c.want {
			t.Errorf("%s: %v, %v", what, info.Mode(), err)
		}
		f, err := Open(dir, Anyone)
		if (err == nil) != (c.want == 0o700) {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			f.Close()
		}
	}
}
