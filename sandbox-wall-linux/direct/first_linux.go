package direct

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// What the first process tells its parent: records of three numbers, each
// written at once.
const (
	toldReady  = iota + 1 // the view is whole
	toldFailed            // a call failed: its place among the scripts' whats, and the error
	toldNoExec            // the program cannot be executed: the error
	toldEnded             // its wait status
)

type record struct{ kind, what, value uint64 }

const recordSize = 24

// atCurrent is AT_FDCWD, as a register has it.
const atCurrent = ^uintptr(-unix.AT_FDCWD - 1)

// An image is all that the cloned processes need, at hand without a step of
// Go's runtime. It is in a region: the parent writes down what is to be done
// while the process is there already. Once there are two of them, the second
// alone writes to it.
type image struct {
	early, build, restrict   []linkedCall
	files                    []uintptr // the paths that are tried
	argv, env                uintptr
	shell, shellArgv, script uintptr // as program has them
	regs                     [registers]uintptr
	programFlags             uintptr // of clone(2), for the program's process
	programStack             uintptr
	mask                     uintptr // the signal mask of the thread that cloned
	report                   uintptr // where records are written
	orders                   uintptr // a socket: a byte comes when there is more to do
	trees                    uintptr // so many come with that byte
	keeps                    bool    // and one to keep
	keep                     uintptr // stays open; ^0 is none
	status                   uintptr // wait4's
	message                  unix.Msghdr
	vector                   unix.Iovec
	control                  [8]uintptr // with descriptors: two words, and four bytes each
	byte                     uintptr
	head                     [linuxwall.HeadSize]byte // of the file that the kernel cannot execute
}

type linkedExec struct{ path, argv, env uintptr }

// The functions below run in a process that was cloned from one thread of
// many: whatever the others held is held for ever. So they allocate nothing,
// grow no stack (nosplit), write no pointer (a write barrier could be on), and
// call nothing but the kernel.

// first is the sandbox's first process.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func first(m *image) {
	if !follow(m, m.early) {
		exit(1)
	}
	awaits(m)
	if !takeHanded(m) {
		tell(m.report, toldFailed, ^uint64(0), uint64(unix.EMFILE)) // as recvmsg(2) leaves some out
		exit(1)
	}
	if !follow(m, m.build) {
		exit(1)
	}
	tell(m.report, toldReady, 0, 0)
	awaits(m)
	pid := cloneProgram(m.programFlags, m.programStack, uintptr(unsafe.Pointer(m)))
	if errno := failedWith(pid); errno != 0 {
		tell(m.report, toldFailed, ^uint64(0), uint64(errno))
		exit(1)
	}
	// The program's streams are its own: who waits for their end does not wait
	// for this process.
	report, rest := moved(m.report, 0), moved(m.keep, 1)+1
	if m.keep == ^uintptr(0) {
		rest = report + 1
	}
	syscall.RawSyscall6(unix.SYS_CLOSE_RANGE, rest, ^uintptr(0)>>32, 0, 0, 0, 0)
	for {
		ended, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&m.status)), unix.WALL, 0, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			exit(1)
		}
		if ended == pid {
			tell(report, toldEnded, 0, uint64(m.status&0xffffffff))
			exit(0)
		}
	}
}

// takeHanded takes the descriptors that came with the word: trees, and what is
// kept. It says whether all did.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func takeHanded(m *image) bool {
	want := m.trees
	if m.keeps {
		want++
	}
	if want == 0 {
		return true
	}
	// struct cmsghdr, and the descriptors behind it.
	if m.message.Controllen < unix.SizeofCmsghdr || m.control[0] != unix.SizeofCmsghdr+4*want {
		return false
	}
	for i := uintptr(0); i < want; i++ {
		fd := uintptr(*(*uint32)(unsafe.Add(unsafe.Pointer(&m.control), unix.SizeofCmsghdr+4*i)))
		if i < m.trees {
			m.regs[(uintptr(firstTree)+i)%uintptr(registers)] = fd
		} else {
			m.keep = fd
		}
	}
	return true
}

// awaits waits for a word of the parent's, and ends when there is none.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func awaits(m *image) {
	for {
		m.message.Controllen = uint64(unsafe.Sizeof(m.control))
		got, _, errno := syscall.RawSyscall6(unix.SYS_RECVMSG, m.orders, uintptr(unsafe.Pointer(&m.message)), unix.MSG_CMSG_CLOEXEC, 0, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || got != 1 {
			exit(1)
		}
		return
	}
}

// moved moves a descriptor to a number, and gives that.
//
//go:nosplit
//go:norace
func moved(fd, to uintptr) uintptr {
	if fd == ^uintptr(0) {
		return fd
	}
	syscall.RawSyscall6(unix.SYS_DUP3, fd, to, unix.O_CLOEXEC, 0, 0, 0)
	return to
}

// become turns a process into the program.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func become(m *image) {
	if !follow(m, m.restrict) {
		exit(1)
	}
	// As execvp(3): what is not there is passed over, what may not be executed
	// is remembered.
	why := uint64(unix.ENOENT)
	for i := range m.files {
		_, _, errno := syscall.RawSyscall6(unix.SYS_EXECVE, m.files[i], m.argv, m.env, 0, 0, 0)
		if errno == unix.ENOEXEC {
			errno = m.shellReads(m.files[i])
			if errno == 0 {
				*(*uintptr)(pointer(&m.script)) = m.files[i]
				_, _, errno = syscall.RawSyscall6(unix.SYS_EXECVE, m.shell, m.shellArgv, m.env, 0, 0, 0)
			}
		}
		if errno == unix.ENOENT || errno == unix.ENOTDIR {
			continue
		}
		why = uint64(errno)
		if errno != unix.EACCES {
			break
		}
	}
	tell(m.report, toldNoExec, 0, why)
	exit(1)
}

// shellReads is why a shell is not to read a file, or 0.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func (m *image) shellReads(file uintptr) syscall.Errno {
	fd, _, errno := syscall.RawSyscall6(unix.SYS_OPENAT, atCurrent, file, unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	got, _, errno := syscall.RawSyscall6(unix.SYS_PREAD64, fd, uintptr(unsafe.Pointer(&m.head)), linuxwall.HeadSize, 0, 0, 0)
	if errno == 0 && !linuxwall.ForShell(m.head[:got%(linuxwall.HeadSize+1)]) {
		errno = unix.ENOEXEC
	}
	syscall.RawSyscall6(unix.SYS_CLOSE, fd, 0, 0, 0, 0, 0)
	return errno
}

// follow goes through a script. It says whether it came to its end; where it
// did not, it has told why. The remainders change no number: with them the
// compiler leaves out checks that would take of a stack that may not grow.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func follow(m *image, calls []linkedCall) bool {
	for i := range calls {
		c := &calls[i]
		if c.regs != [6]uint8{} {
			for j := range c.args {
				if c.regs[j] != 0 {
					c.args[j] = m.regs[c.regs[j]%uint8(registers)]
				}
			}
		}
		var result uintptr
		var errno syscall.Errno
		switch c.kind {
		case setWord:
			*(*uint32)(pointer(&c.args[0])) = uint32(c.args[1])
		case sameWord:
			if *(*uintptr)(pointer(&c.args[0]))&c.args[2] != c.args[1] {
				errno = unix.ESTALE
			}
		case otherWord:
			if *(*uintptr)(pointer(&c.args[0]))&c.args[2] == c.args[1] {
				errno = unix.ESTALE
			}
		case wantCount:
			result, _, errno = syscall.RawSyscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], 0)
			if errno == 0 && result != c.args[5] {
				errno = unix.EIO
			}
		default:
			result, _, errno = syscall.RawSyscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], c.args[5])
		}
		if errno != 0 && uintptr(errno) != c.ok && c.ok != uintptr(anyError) {
			tell(m.report, toldFailed, uint64(c.what), uint64(errno))
			return false
		}
		if c.out != 0 {
			m.regs[c.out%uint8(registers)] = result
		}
	}
	return true
}

// pointer takes a number for the address that it is.
//
//go:nosplit
//go:norace
//go:nocheckptr
func pointer(address *uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(address)) }

// tell writes a record.
//
//go:nosplit
//go:norace
//go:nocheckptr
func tell(report uintptr, kind, what, value uint64) {
	r := record{kind, what, value}
	syscall.RawSyscall6(unix.SYS_WRITE, report, uintptr(unsafe.Pointer(&r)), recordSize, 0, 0, 0)
}

//go:nosplit
//go:norace
func exit(status uintptr) {
	for {
		syscall.RawSyscall6(unix.SYS_EXIT_GROUP, status, 0, 0, 0, 0, 0)
	}
}
