package direct

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A program is what the process that becomes the program does.
type program struct {
	// restrict makes it one of the sandbox: its second user namespace, no
	// capability, Landlock, the filter.
	restrict *script
	// files are the paths that its name can mean, tried in order.
	files []arg
	// argv and env are its own.
	argv, env arg
	// What is no binary and has no #! is started by a shell: with shellArgv,
	// after the path is written to script, which is a place in it.
	shell, shellArgv, script arg
}

// programID is the program's number inside: the first process makes no other.
const programID = 2

// shell starts what is no binary and has no #! (execvp(3)).
const shell = "/bin/sh"

// compileProgram writes it. The signal mask that it gets is at an address.
func compileProgram(e *Early, sb *Sandbox, uid, gid int, mask uintptr) (*program, error) {
	s := &script{}
	s.about("the program's user namespace")
	s.write(freeProc.arg(), "self/setgroups", "deny", 0)
	s.write(freeProc.arg(), "self/gid_map", fmt.Sprintf("%d 0 1", gid), 0)
	s.write(freeProc.arg(), "self/uid_map", fmt.Sprintf("%d 0 1", uid), 0)
	s.about("the program's streams")
	for i, fd := range e.Files {
		s.do(none, unix.SYS_DUP3, n(fd), n(i), n(0))
		if d := sb.Streams[i]; d.Path != "" {
			s.doOK(anyError, tmp, unix.SYS_OPENAT, here, s.text(d.Path), n(d.Flags|unix.O_CLOEXEC))
			s.anyway(unix.SYS_DUP3, tmp.arg(), n(i), n(0)) // of none where it could not be opened
		}
	}
	if sb.Foreground {
		s.about("the terminal's foreground")
		s.anyway(unix.SYS_SETPGID, n(0), n(0))
		s.doOK(anyError, tmp, unix.SYS_OPENAT, here, s.text("/dev/tty"), n(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC))
		// The group's number is the program's, the second process. From behind, as it
		// is now, one is sent SIGTTOU for it, which is blocked here.
		s.anyway(unix.SYS_IOCTL, tmp.arg(), n(unix.TIOCSPGRP), s.place(binary.NativeEndian.AppendUint32(nil, programID)))
	}
	// Whatever the caller has open; these are all that are passed on.
	s.do(none, unix.SYS_CLOSE_RANGE, n(len(e.Files)), n(uint32(0xffffffff)), n(unix.CLOSE_RANGE_CLOEXEC))
	s.do(none, unix.SYS_UMASK, oldUmask.arg())
	s.about("no capability")
	// Those that the kernel does not know are refused, 63 being the last there
	// can be (linux/capability.h, _LINUX_CAPABILITY_U32S_3).
	for capability := range 64 {
		s.doOK(unix.EINVAL, none, unix.SYS_PRCTL, n(unix.PR_CAPBSET_DROP), n(capability))
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{}
	s.do(none, unix.SYS_CAPSET,
		s.place(unsafe.Slice((*byte)(unsafe.Pointer(&header)), unsafe.Sizeof(header))),
		s.place(unsafe.Slice((*byte)(unsafe.Pointer(&data)), unsafe.Sizeof(data))))
	s.about("the end of the first process")
	s.do(none, unix.SYS_PRCTL, n(unix.PR_SET_PDEATHSIG), n(unix.SIGKILL))
	s.about("no new privileges")
	s.do(none, unix.SYS_PRCTL, n(unix.PR_SET_NO_NEW_PRIVS), n(1), n(0), n(0), n(0))
	if len(sb.Landlock) > 0 {
		s.about("landlock")
		s.do(none, unix.SYS_LANDLOCK_RESTRICT_SELF, ruleSet.arg(), n(0))
	}
	s.about("signals")
	s.byDefault()
	s.do(none, unix.SYS_RT_SIGPROCMASK, n(unix.SIG_SETMASK), n(mask), n(0), n(sigsetSize))
	s.about("the filter")
	if len(sb.Seccomp) == 0 || len(sb.Seccomp)%8 != 0 {
		return nil, fmt.Errorf("system call filter: %d bytes, want some of eight each", len(sb.Seccomp))
	}
	filter := s.place(sb.Seccomp)
	// struct sock_fprog: a length, and a pointer.
	fprog := s.words(uint64(len(sb.Seccomp)/8), 0)
	s.fixes = append(s.fixes, fix{int(fprog.v) + 8, int(filter.v)})
	s.do(none, unix.SYS_SECCOMP, n(unix.SECCOMP_SET_MODE_FILTER), n(0), fprog)

	p := &program{restrict: s}
	texts := func(list []string) (at []arg) {
		for _, t := range list {
			at = append(at, s.text(t))
		}
		return at
	}
	argv, env := texts(sb.Argv), s.pointers(texts(sb.Env))
	if len(argv) == 0 {
		return nil, fmt.Errorf("no program to start")
	}
	p.argv, p.env, p.shell = s.pointers(argv), env, s.text(shell)
	p.shellArgv = s.pointers(append([]arg{p.shell, p.shell}, argv[1:]...))
	p.script = p.shellArgv
	p.script.v += 8
	for _, file := range sb.Candidates {
		p.files = append(p.files, s.text(file))
	}
	return p, nil
}

// byDefault has signals do what they do by default: nothing of ours is there to
// handle them. What is ignored stays so, as exec has it.
func (s *script) byDefault() {
	action := s.place(make([]byte, sigactionSize))
	for signal := 1; signal <= 8*sigsetSize; signal++ {
		if handled(signal) {
			s.do(none, unix.SYS_RT_SIGACTION, n(signal), action, n(0), n(sigsetSize))
		}
	}
}

// Sizes of the kernel's sigset_t, of 64 signals, and more than its struct
// sigaction on any architecture, whose first word is the handler.
const (
	sigsetSize    = 8
	sigactionSize = 64
)

// handled is whether this process has a handler for a signal.
func handled(signal int) bool {
	var action [sigactionSize / 8]uintptr
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), 0, uintptr(unsafe.Pointer(&action)), sigsetSize, 0, 0)
	return errno == 0 && action[0] > sigIgnore
}

// sigIgnore is SIG_IGN.
const sigIgnore = 1
