package seccomp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside runs argv in a sandbox that bubblewrap makes, under a filter unless
// it is nil. The first process of the sandbox is bubblewrap's, as in earnest.
// With privileged it has every capability of its user namespace, so that what
// is refused is refused by the filter.
func inside(t *testing.T, filter []byte, privileged bool, env string, argv ...string) (string, error) {
	t.Helper()
	args := []string{"--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
		"--ro-bind", "/", "/", "--proc", "/proc", "--setenv", probeVar, env}
	if privileged {
		// With a /dev of its own bubblewrap makes a second user namespace, and
		// the others belong to the first.
		args = append(args, "--cap-add", "ALL", "--dev-bind", "/dev", "/dev")
	} else {
		args = append(args, "--dev", "/dev")
	}
	cmd := exec.Command("bwrap")
	if filter != nil {
		fd, err := unix.MemfdCreate("filter", unix.MFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "filter")
		defer f.Close()
		if _, err := f.Write(filter); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		cmd.ExtraFiles = []*os.File{f}
		args = append(args, "--seccomp", "3")
	}
	cmd.Args = append(append([]string{"bwrap"}, args...), argv...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), errors.Join(err, errors.New(errs.String()))
	}
	return string(out), nil
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func program(t *testing.T, o Options) []byte {
	t.Helper()
	p, err := Program(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answers runs all probes.
func answers(t *testing.T, filter []byte, privileged bool) map[string]int {
	t.Helper()
	out, err := inside(t, filter, privileged, "calls", self(t))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := map[string]int{}
	for line := range strings.Lines(out) {
		i := strings.LastIndexByte(line, ' ')
		n, err := strconv.Atoi(strings.TrimSpace(line[i+1:]))
		if err != nil {
			t.Fatal(line)
		}
		got[line[:i]] = n
	}
	return got
}

// marked adds mark to every errno of a filter, so that its refusals cannot be
// taken for the kernel's own. That of clone3 stays as it is: C libraries make
// their threads with it unless it is ENOSYS.
const mark = 2000

func marked(t *testing.T) []byte {
	t.Helper()
	const left = 999
	list := rules(Options{})
	for _, r := range list {
		if r.calls[0] == "clone3" {
			r.clauses[0].answer = left
		}
	}
	a, err := Options{}.arch()
	if err != nil {
		t.Fatal(err)
	}
	out, err := encode(assemble(a, list))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(out); i += 8 {
		const returnsConstant = 0x06 // BPF_RET|BPF_K
		k := binary.LittleEndian.Uint32(out[i+4:])
		switch {
		case binary.LittleEndian.Uint16(out[i:]) != returnsConstant || k&^0xffff != retErrno:
		case k == retErrno|left:
			binary.LittleEndian.PutUint32(out[i+4:], retErrno|uint32(enosys))
		default:
			binary.LittleEndian.PutUint32(out[i+4:], k+mark)
		}
	}
	return out
}

// Every rule is met by a real call on the real kernel: under the filter it gets
// the filter's answer, under one whose answers are marked it gets the mark, and
// with no filter it is not answered so. Doors are open without the filter.
func TestProbes(t *testing.T) {
	free := answers(t, nil, true)
	filter := program(t, Options{})
	walled := answers(t, filter, true)
	plain := answers(t, filter, false)
	signed := answers(t, marked(t), true)
	met := map[string]bool{}
	for _, p := range probes() {
		met[strings.Fields(p.name)[0]] = true
		if p.closed == allow {
			if walled[p.name] != free[p.name] || signed[p.name] >= mark {
				t.Errorf("%s: %d under the filter, %d without", p.name, walled[p.name], free[p.name])
			}
			continue
		}
		if walled[p.name] != int(p.closed) || plain[p.name] != int(p.closed) {
			t.Errorf("%s: %d, without capabilities %d, want %d", p.name, walled[p.name], plain[p.name], p.closed)
		}
		if p.nr != unix.SYS_CLONE3 && signed[p.name] != int(p.closed)+mark {
			t.Errorf("%s: %d, want the filter's own answer %d", p.name, signed[p.name], int(p.closed)+mark)
		}
		if p.door && free[p.name] == int(p.closed) && !p.lacked(t) {
			t.Errorf("%s: %d without the filter too: the probe would not see an open door", p.name, free[p.name])
		}
	}
	for _, r := range inWords(t, Options{}) {
		if !met[r.call] {
			t.Errorf("%s: no probe", r.call)
		}
	}
}

// With NoGroupSignal the program's own group is refused to it, and its own
// processes are not.
func TestGroupSignalProbes(t *testing.T) {
	const kills = `import os
for to in 0, os.getpid():
    try: os.kill(to, 0); print("ok")
    except OSError as e: print(e.strerror)
`
	for shut, want := range map[bool]string{false: "ok\nok\n", true: "Operation not permitted\nok\n"} {
		out, err := inside(t, program(t, Options{NoGroupSignal: shut}), false, "", "python3", "-Sc", kills)
		if err != nil || out != want {
			t.Errorf("%v: %q, %v", shut, out, err)
		}
	}
}

// With Trace the sandbox's own processes can be traced, its first cannot.
func TestTraceProbes(t *testing.T) {
	walled := answers(t, program(t, Options{Trace: true, NoMemfd: true}), false)
	for name, want := range map[string]answer{
		"ptrace": eperm, "process_vm_readv": eperm, "process_vm_writev": eperm, // of process 1
		"personality": eperm, "memfd_create": eperm,
	} {
		if walled[name] != int(want) {
			t.Errorf("%s: %d, want %d", name, walled[name], want)
		}
	}
	strace := []string{"strace", "-f", "-o", "/dev/null", "sh", "-c", "exit 7"}
	gdb := []string{"gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "run", "-ex", "print $_exitcode", "--args", "sh", "-c", "exit 7"}
	if _, err := inside(t, program(t, Options{Trace: true}), false, "", strace...); exitCode(err) != 7 {
		t.Errorf("strace with Trace: %v", err)
	}
	if _, err := inside(t, program(t, Options{}), false, "", strace...); exitCode(err) == 7 {
		t.Errorf("strace without Trace: %v", err)
	}
	out, err := inside(t, program(t, Options{Trace: true}), false, "", gdb...)
	if err != nil || !strings.Contains(out, "$1 = 7") || strings.Contains(out, "disabling address space randomization") {
		t.Errorf("gdb with Trace: %v\n%s", err, out)
	}
}

func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return 0
}

// A 32-bit call from a 64-bit program reaches none of the rules, so it ends the
// process. A kernel that was started without 32-bit calls faults the
// instruction itself; there only that nothing goes on can be seen.
func TestForeignCall(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64: int 0x80 is its own")
	}
	want := syscall.SIGSYS
	out, err := inside(t, nil, false, "int80", self(t))
	switch {
	case err == nil && strings.HasPrefix(out, "went on <nil>"):
	case strings.Contains(err.Error(), "segmentation violation"):
		want = 0
	default:
		t.Fatalf("without the filter: %v: %s", err, out)
	}
	out, err = inside(t, program(t, Options{}), false, "int80", self(t))
	if err == nil || strings.Contains(out, "went on") || want != 0 && exitCode(err) != 128+int(want) {
		t.Errorf("under the filter: %v: %s", err, out)
	}
}

// The terminal's input really fills without the filter.
func TestTypingIntoTerminal(t *testing.T) {
	out, err := inside(t, nil, false, "push", self(t))
	if err != nil || !strings.Contains(out, "typed x; typed x") {
		t.Errorf("without the filter: %v: %s", err, out)
	}
	out, err = inside(t, program(t, Options{}), false, "push", self(t))
	if err != nil || strings.TrimSpace(out) != "operation not permitted; operation not permitted" {
		t.Errorf("under the filter: %v: %s", err, out)
	}
}

// What people run goes on working.
func TestOrdinaryPrograms(t *testing.T) {
	filter := program(t, Options{})
	for _, argv := range [][]string{
		{"sh", "-c", "(sleep 0; echo a) | cat | grep -q a && mktemp -u >/dev/null"},
		{"python3", "-c", "import threading, subprocess, socket, multiprocessing as m\n" +
			"t = threading.Thread(target=len, args=('',)); t.start(); t.join()\n" +
			"assert subprocess.check_output(['echo', 'x']) == b'x\\n'\n" +
			"s = socket.socketpair(); s[0].send(b'y'); assert s[1].recv(1) == b'y'\n" +
			"socket.getaddrinfo('127.0.0.1', 80); socket.if_nameindex(); m.Queue()"},
		{"git", "-C", "/", "--version"},
		{"gcc", "-x", "c", "-fsyntax-only", "/dev/null"},
		{"perl", "-e", "fork or exit 0; wait; exit $?"},
	} {
		if out, err := inside(t, filter, false, "", argv...); err != nil {
			t.Errorf("%v: %v\n%s", argv, err, out)
		}
	}
}
