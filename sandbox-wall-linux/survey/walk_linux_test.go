package survey

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What root inside cannot get at, having none of root's powers there, is not
// in need of protection, and could not be given any.
func TestWalkAsRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const other = 4321
	for dir, mode := range map[string]os.FileMode{"shut": 0o700, "through": 0o711, "own": 0} {
		put(t, top+"/"+dir+"/.git/config", "")
		if dir != "own" {
			if err := os.Chown(top+"/"+dir, other, other); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(top+"/"+dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	want := Found{Repositories: []Repository{{Path: top + "/own/.git"}, {Path: top + "/through/.git"}}}
	got := Walk([]string{top}, nil)
	slices.SortFunc(got.Repositories, func(a, b Repository) int { return strings.Compare(a.Path, b.Path) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := os.ReadDir(top + "/shut"); err != nil {
		t.Errorf("the walk kept what it gave up: %v", err)
	}
}

func TestWalk(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, top+"/w/a b/\xff/.git/config", "")
	put(t, top+"/w/sub/.git", "gitdir: x")
	put(t, top+"/w/.husky/pre-commit", "")
	put(t, top+"/out/.git/config", "")
	if err := os.Symlink(top+"/out", top+"/w/l"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(top+"/w", top+"/root"); err != nil {
		t.Fatal(err)
	}
	want := Found{
		Repositories: []Repository{{Path: top + "/w/sub/.git"}, {Path: top + "/w/a b/\xff/.git"}},
		Watched:      []string{top + "/w/.husky"},
	}
	if diff := cmp.Diff(want, Walk([]string{top + "/w"}, nil)); diff != "" {
		t.Error(diff)
	}
	if got := Walk([]string{top + "/root", top + "/none"}, nil); !cmp.Equal(got, Found{}) {
		t.Errorf("by a link: %+v", got)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(top+"/w/sub", 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(top+"/w/sub", 0o755)
		if got := Walk([]string{top + "/w"}, nil).Shut; len(got) != 1 || got[0] != top+"/w/sub" {
			t.Errorf("a folder of our own that may not be listed: %q", got)
		}
	}
}

// A listener answers by whatever name its file has now, in whatever network
// namespace it is, and learns nothing of being asked; what is left of one that
// ended does not.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	ask := func(name string, want bool) {
		t.Helper()
		if got := Answers(filepath.Join(dir, name)); got != want {
			t.Errorf("%s answers: %v, want %v", name, got, want)
		}
	}
	stream, err := net.ListenUnix("unix", &net.UnixAddr{Name: "stream", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	packets, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: "packets", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	sequence, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: "sequence", Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	defer sequence.Close()
	ask("stream", true)
	ask("packets", true)
	ask("sequence", true)
	if err := os.Link("stream", "hard"); err != nil {
		t.Fatal(err)
	}
	ask("hard", true)
	if err := os.Rename("stream", "moved"); err != nil {
		t.Fatal(err)
	}
	ask("moved", true)
	ask("none", false)
	long := strings.Repeat("x", 200)
	if err := os.Mkdir(long, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("moved", long+"/s"); err != nil {
		t.Fatal(err)
	}
	ask(long+"/s", true)
	if raw, err := stream.SyscallConn(); err != nil {
		t.Fatal(err)
	} else if err := raw.Control(func(fd uintptr) {
		if _, _, err := unix.Accept4(int(fd), unix.SOCK_NONBLOCK); err != unix.EAGAIN {
			t.Errorf("the listener was bothered: %v", err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	stream.SetUnlinkOnClose(false)
	stream.Close()
	ask(long+"/s", false)

	other := exec.Command("/proc/self/exe", "-test.run", "^TestListenElsewhere$")
	other.Env = append(os.Environ(), "LISTEN_ELSEWHERE="+dir+"/other")
	other.SysProcAttr = inNetworkOfItsOwn()
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer in.Close()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ask("other", true)
}

// TestListenElsewhere is the other side of TestAnswers.
func TestListenElsewhere(t *testing.T) {
	at := os.Getenv("LISTEN_ELSEWHERE")
	if at == "" {
		return
	}
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	os.Stdout.WriteString("up")
	os.Stdin.Read(make([]byte, 1))
}

func TestMark(t *testing.T) {
	top := t.TempDir()
	put(t, top+"/.git/config", "")
	put(t, top+"/.git/hooks/pre-commit", "")
	put(t, top+"/.git/objects/x", "")
	put(t, top+"/shut/.git/config", "")
	put(t, top+"/.vscode/deep/tasks.json", "")
	put(t, top+"/bare/HEAD", "")
	if err := os.MkdirAll(top+"/stub/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(top+"/stub/.git", 0o755|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	f := Found{
		Repositories: []Repository{{Path: top + "/.git"}, {Path: top + "/shut/.git"}, {Path: top + "/bare", Bare: true}, {Path: top + "/stub/.git"}},
		Watched:      []string{top + "/.vscode"},
	}
	writable := func(path string) bool { return !strings.HasPrefix(path, top+"/shut/") }
	before, _ := Mark(f, writable)
	change := func(name, text string, want ...Change) {
		t.Helper()
		put(t, top+name, text)
		after, _ := Mark(f, writable)
		if diff := cmp.Diff(want, Compare(before, after, nil, nil)); diff != "" && (len(want) > 0 || strings.Contains(diff, "Change")) {
			t.Errorf("%s: %s", name, diff)
		}
		before = after
	}
	change("/.git/objects/x", "an object")
	change("/.git/config", "x", Change{top + "/.git/config", "was changed", true})
	change("/.git/hooks/pre-commit", "x", Change{top + "/.git/hooks/pre-commit", "was changed", true})
	change("/.git/info/attributes", "x", Change{top + "/.git/info/attributes", "was made", true})
	change("/shut/.git/config", "changed by the person")
	if err := os.Rename(top+"/shut/.git/config", top+"/shut/.git/c"); err != nil {
		t.Fatal(err)
	}
	change("/shut/.git/config", "replaced by the person")
	change("/.vscode/deep/tasks.json", "x", Change{top + "/.vscode/deep/tasks.json", "was changed", false})
	change("/.vscode/new.json", "x", Change{top + "/.vscode/new.json", "was made", false})
	change("/bare/hooks/update", "x", Change{top + "/bare/hooks", "was made", true})
	change("/stub/.git/config", "x", Change{top + "/stub/.git", "was made", true})
	// A time that is set back does not hide a change.
	was, err := os.Stat(top + "/.git/config")
	if err != nil {
		t.Fatal(err)
	}
	put(t, top+"/.git/config", "y")
	if err := os.Chtimes(top+"/.git/config", was.ModTime(), was.ModTime()); err != nil {
		t.Fatal(err)
	}
	after, _ := Mark(f, writable)
	if got := Compare(before, after, nil, nil); len(got) != 1 {
		t.Errorf("with its time set back: %+v", got)
	}
}

// A folder that holds more than there is room for says so, and takes no other's
// place.
func TestMarkHasABound(t *testing.T) {
	m := marker{marks: Marks{}, writable: func(string) bool { return true }, all: markAll}
	top := t.TempDir()
	for i := range 40 {
		put(t, fmt.Sprintf("%s/full/%d/x", top, i), "")
	}
	put(t, top+"/few/a/x", "")
	m.insides([]string{top + "/full", top + "/few"}, 1)
	if len(m.unseen) != 0 || len(m.marks) != 82 {
		t.Errorf("with room: %d, unseen %q", len(m.marks), m.unseen)
	}
	m.marks, m.all = Marks{}, 20
	m.insides([]string{top + "/full", top + "/few"}, 1)
	if _, there := m.marks[top+"/few/a/x"]; !there || len(m.marks) > 20 || len(m.unseen) != 1 || m.unseen[0] != top+"/full" {
		t.Errorf("without: %d, unseen %q", len(m.marks), m.unseen)
	}
	m.marks, m.all, m.unseen = Marks{}, 140, nil
	if m.insides([]string{top + "/full", top + "/few"}, 1); len(m.unseen) != 0 || len(m.marks) != 82 {
		t.Errorf("with what the other left: %d, unseen %q", len(m.marks), m.unseen)
	}
}
