package launch

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// standard gives the three streams' descriptors; what is nil is /dev/null.
//
// What a stream is open on can be opened again through /proc/self/fd, by this
// machine's mounts and not by the sandbox's: a folder would lead anywhere, and
// a file that was opened to be read could be written, one that is appended to
// be cut short. So a folder or a disk is refused, and a file stays outside, at
// the far end of a pipe. So does a connection of a network, as a server has
// that is started for each call: it is of this machine's network, whichever the
// sandbox has, and who holds it can end it and call anybody with what is left
// (connect(2), AF_UNSPEC). A pipe that is read stays outside too, since who can
// read it can write it.
//
// Nothing is carried to or from what stays outside before carry is called.
func (b *sandbox) standard(opened *ends) (fds []uintptr, carry func(), err error) {
	var carriers []func()
	carry = func() {
		for _, c := range carriers {
			c()
		}
	}
	for i, f := range []*os.File{b.early.Stdin, b.early.Stdout, b.early.Stderr} {
		if f == nil {
			fd, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", os.DevNull, err)
			}
			*opened = append(*opened, fd)
			fds = append(fds, uintptr(fd))
			continue
		}
		outside, err := judgeStream(int(f.Fd()), i == 0)
		if err != nil {
			return nil, nil, fmt.Errorf("standard %s: %w", streamNames[i], err)
		}
		switch {
		case !outside:
			fds = append(fds, f.Fd())
		case i == 2 && sameFile(b.early.Stdout, f):
			fds = append(fds, fds[1]) // one pipe, so that lines keep their order
		default:
			fd, carrier, err := b.pipeFor(f, i == 0)
			if err != nil {
				return nil, nil, fmt.Errorf("standard %s: %w", streamNames[i], err)
			}
			carriers = append(carriers, carrier)
			*opened = append(*opened, fd)
			fds = append(fds, uintptr(fd))
		}
	}
	return fds, carry, nil
}

var streamNames = [...]string{"input", "output", "error"}

// judgeStream refuses what must not be open inside, and says whether it stays
// outside: a file, a connection or a pipe that is read.
func judgeStream(fd int, in bool) (outside bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return false, err
	}
	if flags&unix.O_PATH != 0 {
		return false, errors.New("is a path that was not opened, by which the program would leave the sandbox: give a file, a pipe or a terminal")
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return true, nil
	case unix.S_IFIFO:
		if !in && flags&unix.O_ACCMODE == unix.O_RDONLY {
			return false, errors.New("is the end of a pipe that is read, to which the program would write what others read: give the other end, a file or a terminal")
		}
		return in && flags&unix.O_ACCMODE != unix.O_WRONLY, nil
	case unix.S_IFSOCK:
		return judgeSocket(fd)
	case unix.S_IFDIR:
		return false, errors.New("is a folder, by which the program would leave the sandbox: give a file, a pipe or a terminal")
	case unix.S_IFBLK:
		return false, errors.New("is a disk, by which the program would leave the sandbox: give a file, a pipe or a terminal")
	case unix.S_IFCHR:
		if isMaster(fd) {
			return false, errors.New("is the far side of a terminal, by which the program would type on it: give a file, a pipe or a terminal")
		}
		if harmlessName(st.Rdev) == "" && !isTerminal(fd) {
			return false, errors.New("is a device of this machine: give a file, a pipe or a terminal")
		}
		return false, nil
	}
	// An eventfd(2) at best, an io_uring or a handle of a process at worst.
	return false, errors.New("is something of the kernel's that is no file: give a file, a pipe or a terminal")
}

// judgeSocket is judgeStream of a socket. One end of a pair, or of a connection
// by a path, can be connected to nothing else (unix(7)); what has no other end,
// or sends datagrams, to whatever is of this machine's network: an abstract name
// is.
func judgeSocket(fd int) (outside bool, err error) {
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return false, err
	}
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return false, err
	}
	outside = family != unix.AF_UNIX
	if _, err := unix.Getpeername(fd); err != nil || kind != unix.SOCK_STREAM && (outside || kind != unix.SOCK_SEQPACKET) {
		return false, errors.New("is a socket without a connection, by which the program would leave the sandbox's network: give a connection, a pipe or a terminal")
	}
	return outside, nil
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// isMaster says whether a terminal is held by the side that types and reads what
// is shown (ptmx(4)).
func isMaster(fd int) bool {
	_, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	return err == nil
}

func sameFile(a, b *os.File) bool {
	if a == nil || b == nil {
		return false
	}
	first, err := a.Stat()
	if err != nil {
		return false
	}
	second, err := b.Stat()
	return err == nil && os.SameFile(first, second)
}

// pipeFor gives the program's end of a pipe at whose far end f is, and
// what begins to carry.
func (b *sandbox) pipeFor(f *os.File, in bool) (fd int, begin func(), err error) {
	switch {
	case in && isPipe(f):
		fed, fd, err := feedPipe(f)
		if err != nil {
			return -1, nil, err
		}
		b.fed = fed
		return fd, fed.begin, nil
	case in:
		fed, fd, err := feed(f)
		if err != nil {
			return -1, nil, err
		}
		if fed != nil {
			b.fed = fed
			return fd, fed.begin, nil
		}
	}
	return b.pipeTo(f, in)
}

// settle leaves what was carried in as the program left it.
func (b *sandbox) settle() {
	if b.fed != nil {
		b.fed.settle()
		b.fed = nil
	}
}

func isPipe(f *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// pipeTo gives the program's end of a pipe, and what begins to carry to its other
// end from f, or from it to f. What is carried out is waited for.
func (b *sandbox) pipeTo(f *os.File, in bool) (int, func(), error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return -1, nil, fmt.Errorf("pipe: %w", err)
	}
	if in {
		return pipe[0], func() { go carry(os.NewFile(uintptr(pipe[1]), "to the program"), f, true) }, nil
	}
	return pipe[1], func() {
		b.carried.Go(func() { carry(f, os.NewFile(uintptr(pipe[0]), "from the program"), false) })
	}, nil
}

// carry copies until there is no more, or nobody takes it, and closes the end
// that is the pipe's.
func carry(to, from *os.File, closeTo bool) {
	io.Copy(to, from)
	if closeTo {
		to.Close()
	} else {
		from.Close()
	}
}
