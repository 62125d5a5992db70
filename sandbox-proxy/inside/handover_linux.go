package inside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// receiveWait bounds [Handover.Receive] whatever its context says. The whole
// of [Enter] takes a few milliseconds.
const receiveWait = 15 * time.Second

// Handover is the outside's part of making a network: the process that calls
// [Enter] is at the other end of it.
type Handover struct {
	cmd    *exec.Cmd
	want   Want
	fd     int
	handed bool // see PrepareHanded

	close  sync.Once
	ours   *net.UnixConn
	theirs *os.File
	there  namespace // of the listeners, once they are here
}

// Prepare makes cmd start in a user and a network namespace of its own, its
// uid and gid mapped to themselves, with a control socket among its
// ExtraFiles. The descriptor's number is [Handover.FD]; cmd's arguments have
// to name it ([Want.Flags]), and may be set after this.
//
// The other fields of cmd.SysProcAttr are kept. A credential, mappings or
// ambient capabilities of the caller's own cannot be and are refused. As an
// ordinary user the process has CAP_NET_ADMIN, CAP_SETPCAP and
// CAP_NET_BIND_SERVICE in its namespaces, as root every one.
//
// The caller locks its thread (runtime.LockOSThread) before [Handover.Start]
// and keeps it until the process has ended: the process is killed when that
// thread ends.
func Prepare(cmd *exec.Cmd, want Want) (*Handover, error) {
	if err := want.Check(); err != nil {
		return nil, failed(StepStart, "", err)
	}
	attr, err := namespaced(cmd)
	if err != nil {
		return nil, failed(StepStart, "", err)
	}
	h, err := controlled(cmd, want)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = attr
	return h, nil
}

// controlled gives a command its end of a control socket.
func controlled(cmd *exec.Cmd, want Want) (*Handover, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, failed(StepControl, "make the socket", err)
	}
	mine := os.NewFile(uintptr(pair[0]), "control")
	theirs := os.NewFile(uintptr(pair[1]), "control inside")
	conn, err := net.FileConn(mine)
	mine.Close()
	if err != nil {
		theirs.Close()
		return nil, failed(StepControl, "take the socket", err)
	}
	cmd.ExtraFiles = append(slices.Clone(cmd.ExtraFiles), theirs)
	return &Handover{
		cmd: cmd, want: want, fd: 2 + len(cmd.ExtraFiles),
		ours: conn.(*net.UnixConn), theirs: theirs,
	}, nil
}

func namespaced(cmd *exec.Cmd) (*syscall.SysProcAttr, error) {
	var a syscall.SysProcAttr
	if cmd.Process != nil {
		return nil, errors.New("the command has been started")
	}
	if cmd.SysProcAttr != nil {
		a = *cmd.SysProcAttr
	}
	if a.Credential != nil || a.UidMappings != nil || a.GidMappings != nil || a.AmbientCaps != nil {
		return nil, errors.New("the command has a credential, mappings or ambient capabilities of its own")
	}
	uid, gid := os.Geteuid(), os.Getegid()
	a.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNET
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	a.GidMappingsEnableSetgroups = false
	a.Pdeathsig = syscall.SIGKILL
	if uid != 0 { // execve(2) as uid 0 gives every capability by itself
		a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE}
	}
	return &a, nil
}

// FD is the control socket's descriptor in the process, 3 or more.
func (h *Handover) FD() int { return h.fd }

// Start starts the command. Where user namespaces are forbidden the error is
// [ErrForbidden] and says by what.
func (h *Handover) Start() error {
	err := h.cmd.Start()
	h.theirs.Close() // so that the end of the process is seen
	if err != nil {
		h.Close()
		return explainStart(err, readMachine(os.ReadFile, os.Geteuid()))
	}
	return nil
}

// Receive waits for the listeners. On failure, which may be one that happened
// inside, nothing is left open here, and the process ends by itself; the
// caller still has to wait for it.
func (h *Handover) Receive(ctx context.Context) (*Listeners, error) {
	got := &Listeners{}
	err := h.receive(ctx, got)
	if err == nil {
		return got, nil
	}
	got.Close()
	h.Close()
	if ctx.Err() != nil {
		err = failed(StepHandOver, "", context.Cause(ctx))
	}
	var inside *StepError
	if errors.As(err, &inside) {
		return nil, explainInside(inside, readMachine(os.ReadFile, os.Geteuid()))
	}
	return nil, failed(StepHandOver, "", err)
}

func (h *Handover) receive(ctx context.Context, got *Listeners) error {
	if err := h.ours.SetReadDeadline(time.Now().Add(receiveWait)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { h.ours.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if h.handed {
		return h.receiveHanded(got)
	}
	here, err := ourNamespace()
	if err != nil {
		return err
	}
	var seen []listener
	check := checker{here: here}
	for {
		m, fds, err := h.next()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case listener:
			if len(fds) != 1 || slices.Contains(seen, m) || len(seen) >= 2*MaxPorts+16 {
				closeFDs(fds)
				return fmt.Errorf("%w: %s with %d descriptors", errMessage, m, len(fds))
			}
			if err := check.take(fds[0], m, got); err != nil {
				return fmt.Errorf("%s: %w", m, err)
			}
			seen = append(seen, m)
		case ready:
			got.IPv6 = m.ipv6
			if got.Unnamed != nil && seen[len(seen)-1] == unnamedListener { // a kernel may have none
				seen = seen[:len(seen)-1]
			}
			if want := listeners(h.want, m.ipv6); len(fds) != 0 || !slices.Equal(seen, want) {
				closeFDs(fds)
				return fmt.Errorf("%w: %d listeners and not %d", errMessage, len(seen), len(want))
			}
			h.there = check.there
			return nil
		case *StepError:
			closeFDs(fds)
			return m
		}
	}
}

// next reads one message and the descriptors that came with it.
func (h *Handover) next() (message, []int, error) {
	b, fds, err := h.read()
	if err != nil {
		return nil, nil, err
	}
	m, err := unmarshal(b)
	if err != nil {
		closeFDs(fds)
		return nil, nil, err
	}
	return m, fds, nil
}

// read reads what a message is made of.
func (h *Handover) read() ([]byte, []int, error) {
	buf := make([]byte, maxMessage)
	oob := make([]byte, unix.CmsgSpace(4*4))
	n, oobn, flags, _, err := h.ours.ReadMsgUnix(buf, oob) // close-on-exec is set by it
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) {
		return nil, nil, fmt.Errorf("before its listeners were here: %w", ErrGone)
	}
	if err != nil {
		return nil, nil, err
	}
	fds, err := rights(oob[:oobn])
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = fmt.Errorf("%w: it is too long", errMessage)
	}
	if err != nil {
		closeFDs(fds)
		return nil, nil, err
	}
	return buf[:n], fds, nil
}

// rights are the descriptors in a control message, also with an error.
func rights(oob []byte) (fds []int, err error) {
	all, err := unix.ParseSocketControlMessage(oob)
	for _, m := range all {
		got, e := unix.ParseUnixRights(&m)
		fds, err = append(fds, got...), errors.Join(err, e)
	}
	return fds, err
}

// Go lets the process go on to execute the wall. The control socket is closed
// by it, unless [Want.Sockets] keeps it for [Handover.Sockets].
func (h *Handover) Go() error {
	if !h.want.Sockets {
		defer h.Close()
	}
	if err := h.ours.SetWriteDeadline(time.Now().Add(receiveWait)); err != nil {
		return failed(StepWait, "", err)
	}
	if _, err := h.ours.Write([]byte{kindGo}); err != nil {
		if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
			err = ErrGone
		}
		return failed(StepWait, "tell it to go on", err)
	}
	return nil
}

// Close gives up: a process that has not been told to go on ends. It may be
// called at any time and more than once.
func (h *Handover) Close() {
	h.close.Do(func() {
		h.ours.Close()
		h.theirs.Close()
	})
}
