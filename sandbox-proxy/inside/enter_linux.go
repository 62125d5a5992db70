package inside

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// goWait bounds the wait for [Handover.Go], in seconds: what the proxy does
// between is a matter of milliseconds.
const goWait = 30

// Enter makes the network of this process's namespaces and hands its listeners
// up over the control socket fd, both as [ParseFlags] read them. It returns
// once the proxy said to go on, fd closed and this process sealed; the caller
// then executes the wall from the same goroutine. With [Want.Sockets] fd stays
// open, on exec it is closed, and a goroutine makes sockets until the proxy
// closes its end: the caller then starts the wall, and stays.
//
// The goroutine stays locked to its thread: the thread that executes the next
// program decides whether it still dies with the proxy, since PR_SET_PDEATHSIG
// is a thread's own and new threads start without it.
//
// After an error, which the proxy has been told too, nothing may be executed.
func Enter(fd int, want Want) error {
	c, err := takeControl(fd)
	if err != nil {
		return err
	}
	err = c.enter(want)
	if err != nil {
		c.fail(err)
	}
	if err == nil && want.Sockets {
		return c.stay()
	}
	unix.Close(c.fd)
	return err
}

// control is this end of the control socket.
type control struct{ fd int }

var errControl = errors.New("it is not a control socket")

func takeControl(fd int) (control, error) {
	unix.CloseOnExec(fd)
	for option, want := range map[int]int{unix.SO_DOMAIN: unix.AF_UNIX, unix.SO_TYPE: unix.SOCK_SEQPACKET} {
		is, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
		if err == nil && is != want {
			err = errControl
		}
		if err != nil {
			return control{}, &StepError{Step: StepControl, What: fmt.Sprintf("descriptor %d", fd), Err: err,
				Hint: "this stage is started by lnk sandbox, not by hand"}
		}
	}
	in, out := unix.Timeval{Sec: goWait}, unix.Timeval{Sec: kernelWait}
	if err := errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &in),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &out),
	); err != nil {
		return control{}, failed(StepControl, "bound the wait", err)
	}
	return control{fd: fd}, nil
}

func (c control) enter(want Want) error {
	if err := want.Check(); err != nil {
		return failed(StepListen, "", err)
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return failed(StepControl, "die with the proxy", err)
	}
	fds, all, ipv6, err := settle(ours{}, want)
	if err != nil {
		return err
	}
	defer closeFDs(fds)
	for i, l := range all {
		if err := c.send(marshalListener(l), fds[i]); err != nil {
			return failed(StepHandOver, l.String(), err)
		}
	}
	if err := seal(os.Getuid()); err != nil {
		return err
	}
	if err := c.send(marshalReady(ready{ipv6: ipv6})); err != nil {
		return failed(StepHandOver, "", err)
	}
	return failed(StepWait, "", c.wait())
}

func (c control) send(message []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for {
		err := unix.Sendmsg(c.fd, message, oob, nil, unix.MSG_NOSIGNAL)
		switch err {
		case unix.EINTR:
		case unix.EPIPE, unix.ECONNRESET:
			return ErrGone
		default:
			return err
		}
	}
}

// fail tells the proxy. Should that fail too, the proxy sees this process end.
func (c control) fail(err error) {
	step := &StepError{Err: err}
	errors.As(err, &step)
	_ = c.send(marshalFailed(step))
}

// wait returns when the proxy said to go on.
func (c control) wait() error {
	end := time.Now().Add(goWait * time.Second)
	for {
		var b [2]byte
		n, _, err := unix.Recvfrom(c.fd, b[:], 0)
		switch {
		case err == unix.EINTR && time.Now().Before(end):
		case err == unix.EAGAIN || err == unix.EINTR:
			return fmt.Errorf("the proxy did not say so within %d seconds", goWait)
		case err == unix.ECONNRESET || err == nil && n == 0:
			return ErrGone
		case err != nil:
			return err
		case n != 1 || b[0] != kindGo:
			return errMessage
		default:
			return nil
		}
	}
}
