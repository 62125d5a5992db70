package direct

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/noexec"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/seccomp"
)

// node is what stands at a path.
func node(t *testing.T, at string) linuxwall.Node {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(at, &st); err != nil {
		t.Fatal(at, err)
	}
	n := linuxwall.Node{Kind: linuxwall.File, Dev: st.Dev, Ino: st.Ino}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		n.Kind = linuxwall.Folder
	}
	return n
}

// bind shows a path of this machine where it stands.
func bind(t *testing.T, verb linuxwall.Verb, at string) linuxwall.Step {
	t.Helper()
	return linuxwall.Step{Verb: verb, At: at, From: at, Is: node(t, at)}
}

// small is a sandbox with programs in it, and what else a test wants.
func small(t *testing.T, more ...linuxwall.Step) *Sandbox {
	t.Helper()
	steps := []linuxwall.Step{
		{Verb: linuxwall.Empty, At: "/", Perm: 0o755},
		{Verb: linuxwall.Devices, At: "/dev"},
		{Verb: linuxwall.Empty, At: "/dev/shm", Perm: 0o1777},
		{Verb: linuxwall.Processes, At: "/proc"},
		{Verb: linuxwall.Empty, At: "/tmp", Perm: 0o1777},
		bind(t, linuxwall.Read, "/usr"),
	}
	for _, at := range []string{"/bin", "/lib", "/lib64", "/sbin"} {
		if to, err := os.Readlink(at); err == nil {
			steps = append(steps, linuxwall.Step{Verb: linuxwall.MakeLink, At: at, Text: to})
		} else if _, err := os.Stat(at); err == nil {
			steps = append(steps, bind(t, linuxwall.Read, at))
		}
	}
	steps = append(steps, more...)
	for _, at := range []string{"/dev", "/"} {
		steps = append(steps, linuxwall.Step{Verb: linuxwall.Seal, At: at})
	}
	filter, err := seccomp.Program(seccomp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Sandbox{
		Steps: steps, Dir: "/", Seccomp: filter, Landlock: landlock.ScopeSet(),
		Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
	}
}

// A result is how a sandbox ended.
type result struct {
	status syscall.WaitStatus
	noExec error
	failed error
	out    string
}

// run makes a sandbox and runs a program in it to its end.
func run(t *testing.T, sb *Sandbox, argv ...string) result {
	t.Helper()
	out := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: what it restricts itself by ends with it
		out <- runHere(sb, argv)
	}()
	r := <-out
	if errors.Is(r.failed, ErrUnavailable) {
		t.Fatalf("%v", r.failed)
	}
	return r
}

func begin(in, out int) (*First, error) {
	return Begin(Early{OwnNet: true, HostName: "lnk", Session: true, Files: [3]int{in, out, out}})
}

func runHere(sb *Sandbox, argv []string) (r result) {
	sb.Argv = argv
	sb.Candidates = []string{argv[0]}
	if !strings.Contains(argv[0], "/") {
		sb.Candidates = []string{path.Join("/usr/bin", argv[0])}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return result{failed: err}
	}
	defer null.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return result{failed: err}
	}
	defer read.Close()
	first, err := begin(int(null.Fd()), int(write.Fd()))
	write.Close()
	if err != nil {
		return result{failed: err}
	}
	defer first.Close()
	text := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(read)
		text <- string(bytes.TrimSpace(b))
	}()
	if r.failed = first.Build(sb); r.failed == nil {
		r.failed = first.Ready()
	}
	if r.failed == nil {
		r.failed = first.Go()
	}
	for r.failed == nil {
		told, more, err := first.Told()
		if r.failed = err; !more {
			break
		}
		if told.NoExec != nil {
			r.noExec = told.NoExec
		}
		if told.Ended {
			r.status = told.Status
		}
	}
	if r.failed != nil {
		syscall.Kill(first.PID, syscall.SIGKILL)
	}
	syscall.Wait4(first.PID, nil, 0, nil)
	r.out = <-text
	return r
}

// What is seen is the view, and nothing of this machine beside it.
func TestView(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"kept/file": "kept", "kept/in/file": "in", "shut/file": "x", "secret": "s"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept := dir + "/kept"
	at := func(s linuxwall.Step, at string) linuxwall.Step { s.At = at; return s }
	sb := small(t,
		linuxwall.Step{Verb: linuxwall.Empty, At: "/home", Perm: 0o755},
		at(bind(t, linuxwall.Write, kept), "/home/kept"),
		at(bind(t, linuxwall.Read, kept+"/in"), "/home/kept/in"),
		at(bind(t, linuxwall.Read, dir+"/secret"), "/home/deep/down/file"),
		linuxwall.Step{Verb: linuxwall.CloseFile, At: "/home/kept/file", Is: node(t, kept+"/file")},
		linuxwall.Step{Verb: linuxwall.Close, At: "/home/shut", Perm: 0o555},
		linuxwall.Step{Verb: linuxwall.Close, At: "/home/shut2", Perm: 0o555},
		linuxwall.Step{Verb: linuxwall.MakeFolder, At: "/home/made", Perm: 0o700},
		linuxwall.Step{Verb: linuxwall.MakeLink, At: "/home/link", Text: "made"},
		linuxwall.Step{Verb: linuxwall.WriteFile, At: "/home/written", Text: "our words\n", Perm: 0o640},
		linuxwall.Step{Verb: linuxwall.Tell, At: "/usr/lib/os-release", Text: "told", Perm: 0o444, Is: node(t, "/usr/lib/os-release")},
		linuxwall.Step{Verb: linuxwall.Empty, At: "/small", Perm: 0o1777, Size: 8192},
	)
	r := run(t, sb, "bash", "-c", `cd /home
cat kept/in/file deep/down/file written /usr/lib/os-release; echo
cat kept/file; echo > kept/file; echo x > kept/new; echo x > kept/in/new; echo x > shut/new; echo x > shut2/new; echo x > /new; echo x >/usr/lib/os-release
stat -c '%a %F %n' made link written shut shut2 kept/in /dev/shm /tmp
ls -A shut shut2 /small
head -c 100000 /dev/zero > /small/zero; stat -c %s /small/zero; stat -f -c %c /small
grep -c -E ' (shared|master|propagate_from):' /proc/self/mountinfo
ls -A /; exit 7`)
	want := `insour words
told
cat: kept/file: Permission denied
bash: line 3: kept/file: Permission denied
bash: line 3: kept/in/new: Read-only file system
bash: line 3: shut/new: Read-only file system
bash: line 3: shut2/new: Read-only file system
bash: line 3: /new: Read-only file system
bash: line 3: /usr/lib/os-release: Read-only file system
700 directory made
777 symbolic link link
640 regular file written
555 directory shut
555 directory shut2
755 directory kept/in
1777 directory /dev/shm
1777 directory /tmp
/small:

shut:

shut2:
head: error writing 'standard output': No space left on device
8192
1028
0
bin
dev
home
lib
lib64
proc
sbin
small
tmp
usr`
	if r.failed != nil || r.status.ExitStatus() != 7 {
		t.Errorf("%v, status %d", r.failed, r.status)
	}
	if diff := cmp.Diff(want, r.out); diff != "" {
		t.Error(diff)
	}
	if text, err := os.ReadFile(kept + "/new"); err != nil || string(text) != "x\n" {
		t.Errorf("written inside: %q, %v", text, err)
	}
}

// What is no longer what was looked at is not mounted, on either side, and
// nothing is made of this machine's.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a", "b/in", "elsewhere"} {
		if err := os.MkdirAll(dir+"/"+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir+"/elsewhere", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", dir+"/b/link"); err != nil {
		t.Fatal(err)
	}
	folder := bind(t, linuxwall.Write, dir+"/b")
	swapped := bind(t, linuxwall.Write, dir+"/a")
	swapped.Is.Ino++
	other := bind(t, linuxwall.Read, dir+"/a")
	other.Is.Dev++
	through := bind(t, linuxwall.Write, dir+"/elsewhere")
	through.From = dir + "/link"
	gone := bind(t, linuxwall.Write, dir+"/a")
	gone.From = dir + "/gone"
	below := bind(t, linuxwall.Read, dir+"/a")
	for name, steps := range map[string][]linuxwall.Step{
		"another inode":              {swapped},
		"another device":             {other},
		"a link at the source":       {through},
		"a source that is gone":      {gone},
		"a link at the target":       {folder, {Verb: linuxwall.Close, At: dir + "/b/link", Perm: 0o555}},
		"a link above the target":    {folder, {Verb: linuxwall.Close, At: dir + "/b/link/x", Perm: 0o555}},
		"a target that is not there": {folder, {Verb: linuxwall.Close, At: dir + "/b/missing", Perm: 0o555}},
		"one for a folder":           {folder, {Verb: below.Verb, From: below.From, Is: below.Is, At: dir + "/b/missing"}},
		"a file for a folder":        {folder, {Verb: linuxwall.CloseFile, At: dir + "/b/in"}},
		"an empty one in a folder":   {folder, {Verb: linuxwall.Empty, At: dir + "/b/missing/x", Perm: 0o755}},
	} {
		r := run(t, small(t, steps...), "echo", "ran")
		if !errors.Is(r.failed, linuxwall.ErrChanged) || r.out != "" {
			t.Errorf("%s: %v, %q", name, r.failed, r.out)
		}
	}
	names, err := filepath.Glob(dir + "/b/*")
	if err != nil || len(names) != 2 {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := filepath.Glob(dir + "/elsewhere/*"); err != nil || len(names) != 0 {
		t.Errorf("%q, %v", names, err)
	}
}

// A program has no capability, no way to more, and no way to the process that
// made its sandbox.
func TestPowerless(t *testing.T) {
	const attempts = `
import ctypes, os, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
def says(what, ok): print(what, "ok" if ok else os.strerror(ctypes.get_errno() or 0))
def raised(what, do):
    try: do(); print(what, "ok")
    except OSError as e: print(what, e.strerror)
raised("kill 1", lambda: os.kill(1, signal.SIGKILL))
says("ptrace 1", libc.ptrace(16, 1, 0, 0) == 0)
raised("proc 1", lambda: os.listdir("/proc/1") and None or (_ for _ in ()).throw(OSError(0, "empty")))
says("user namespace", libc.unshare(0x10000000) == 0)
says("mount", libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0)
says("umount", libc.umount2(b"/dev/shm", 2) == 0)
raised("chroot", lambda: os.chroot("/tmp"))
raised("map", lambda: open("/proc/self/uid_map", "w").write("0 0 1"))
raised("host name", lambda: __import__("socket").sethostname("x"))
raised("namespaces", lambda: open("/proc/sys/user/max_user_namespaces", "w").write("100"))
raised("core pattern", lambda: open("/proc/sys/kernel/core_pattern", "w").write("core"))
raised("device", lambda: os.mknod("/tmp/null", 0o20666, os.makedev(1, 3)))
raised("owner", lambda: os.chown("/tmp", 12345, 12345))
`
	sb := small(t)
	sb.Steps = append(sb.Steps, linuxwall.Step{Verb: linuxwall.Seal, At: "/proc"})
	r := run(t, sb, "python3", "-Sc", attempts)
	// A kernel without the scope lets the signal pass, and the first process of
	// its namespace lives through it: the attempts go on.
	kill := "kill 1 Operation not permitted\n"
	if !landlock.Closable().Signals {
		kill = "kill 1 ok\n"
	}
	others, killed := strings.CutPrefix(r.out, kill)
	if r.failed != nil || r.status != 0 || !killed || strings.Contains(others, "ok") || strings.Count(others, "\n") != 11 {
		t.Errorf("%v, status %d:\n%s", r.failed, r.status, r.out)
	}
	// A user namespace is refused by the number of them too, not by the filter
	// alone: one that lets everything through changes nothing.
	sb = small(t)
	sb.Seccomp = []byte{0x06, 0, 0, 0, 0, 0, 0xff, 0x7f} // return SECCOMP_RET_ALLOW
	r = run(t, sb, "unshare", "--user", "true")
	if r.failed != nil || r.status.ExitStatus() != 1 || !strings.Contains(r.out, "No space left") {
		t.Errorf("%v, status %d: %s", r.failed, r.status, r.out)
	}
}

// It starts like any program: with the signals, the mask and the streams that
// execve(2) leaves, and nothing else open.
func TestClean(t *testing.T) {
	r := run(t, small(t), "sh", "-c", "umask; grep -E '^(SigBlk|SigIgn|SigPnd|ShdPnd)' /proc/self/status; ls /proc/self/fd; pwd; readlink /proc/self/root; env | sort")
	want := "0022\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0\n1\n2\n3\n/\n/\nLC_ALL=C\nPATH=/usr/bin:/bin\nPWD=/"
	if r.failed != nil || r.out != want {
		t.Errorf("%v:\n%s", r.failed, cmp.Diff(want, r.out))
	}
}

// What cannot be executed is told.
func TestNoExec(t *testing.T) {
	for name, want := range map[string]error{"/usr/bin/no-such": unix.ENOENT, "/usr/lib": unix.EACCES, "/usr/lib/os-release": unix.EACCES} {
		if r := run(t, small(t), name); !errors.Is(r.noExec, want) {
			t.Errorf("%s: %+v, want %v", name, r, want)
		}
	}
	sb := small(t)
	sb.NoExec = &noexec.Orders{NoExec: true, Places: []noexec.Place{{Path: "/usr", Dev: node(t, "/usr").Dev, Ino: node(t, "/usr").Ino, Code: true}}}
	r := run(t, sb, "sh", "-c", "cp /usr/bin/true /tmp/true && /tmp/true; echo $?; cp /usr/bin/true /dev/shm/true && /dev/shm/true; echo $?")
	if want := "sh: 1: /tmp/true: Permission denied\n126\nsh: 1: /dev/shm/true: Permission denied\n126"; r.failed != nil || r.out != want {
		t.Errorf("%v: %q", r.failed, r.out)
	}
}

// Few descriptors are enough for many mounts.
func TestManyMounts(t *testing.T) {
	dir := t.TempDir()
	steps := []linuxwall.Step{bind(t, linuxwall.Write, dir)}
	for i := range 300 {
		at := dir + "/" + strconv.Itoa(i)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		step := bind(t, linuxwall.Read, at)
		if i%2 == 0 {
			step = linuxwall.Step{Verb: linuxwall.Close, At: at, Perm: 0o555}
		}
		steps = append(steps, step)
	}
	sb := small(t, steps...)
	r := run(t, sb, "sh", "-c", "grep -c "+dir+"/ /proc/self/mountinfo; ls /proc/self/fd | wc -l")
	if r.failed != nil || r.out != "300\n4" {
		t.Errorf("%v: %q", r.failed, r.out)
	}
}

// The program does not start when its parent gives up, and a program that runs
// does not outlive its first process.
func TestGivenUp(t *testing.T) {
	for _, early := range []bool{true, false} {
		ended := make(chan string, 1)
		sb := small(t)
		go func() {
			runtime.LockOSThread()
			ended <- givenUp(sb, early)
		}()
		if wrong := <-ended; wrong != "" {
			t.Errorf("early %v: %s", early, wrong)
		}
	}
}

func givenUp(sb *Sandbox, early bool) string {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err.Error()
	}
	defer null.Close()
	fd := int(null.Fd())
	sb.Argv, sb.Candidates = []string{"sleep", "600"}, []string{"/usr/bin/sleep"}
	first, err := begin(fd, fd)
	if err != nil {
		return err.Error()
	}
	if !early {
		if err := errors.Join(first.Build(sb), first.Ready()); err != nil {
			return err.Error()
		}
	}
	first.Close()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(first.PID, &ws, 0, nil); err != nil || ws.ExitStatus() != 1 {
		return fmt.Sprintf("given up before the program: %v, %v", ws, err)
	}
	return ""
}

// What a machine does not let us do is told from what has changed.
func TestUnavailable(t *testing.T) {
	if err := Probe(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" -test.run "^TestProbed$"`, "/proc/self/exe")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args[len(cmd.Args)-1] = exe
	cmd.Env = append(os.Environ(), "DIRECT_TEST_PROBE=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "unavailable: true") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestProbed is the child of TestUnavailable.
func TestProbed(t *testing.T) {
	if os.Getenv("DIRECT_TEST_PROBE") == "" {
		return
	}
	fmt.Println("unavailable:", errors.Is(Probe(), ErrUnavailable))
}
