package tool

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// A process is one call's: the leader of a session and a group of its own, with
// no terminal but the one that is made for it. So nothing of it reaches the
// terminal that the sandbox was started on.
type process struct {
	// in, out and errs are our ends of its streams. With a terminal, in and out
	// are that, and errs is nil where errors go there too.
	in, out, errs *os.File
	terminal      bool

	done  chan struct{} // closed when it is gone, and with it its group
	ended frame.Ended   // then: how

	mu   sync.Mutex
	pid  int
	gone bool // the pid may soon be another's
}

// A terminal is what a call with one asks for.
type terminal struct {
	size      frame.WindowOf
	errorsToo bool
}

// start runs the call. The thread that starts a process waits for it: the
// signal at its parent's death is tied to that thread (prctl(2)).
func (h *Host) start(j *judged, t *terminal) (*process, error) {
	p := &process{done: make(chan struct{})}
	theirs, err := p.open(t)
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if err != nil {
		p.close()
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: j.argv[0], Args: j.argv,
		Env: h.environFor(j.folder),
		Dir: "/", Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Setctty: t != nil},
	}
	if j.folder.file != nil {
		cmd.Dir = descriptor(j.folder.file)
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
			h.reaper.add(p.pid)
		}
		started <- err
		if err == nil {
			p.await(h, cmd)
		}
	}()
	if err := <-started; err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// open makes the streams: the process's ends, ours go into p.
func (p *process) open(t *terminal) (theirs []*os.File, err error) {
	pipe := func(ours **os.File, input bool) *os.File {
		r, w, e := os.Pipe()
		if e != nil {
			err = errors.Join(err, e)
			return nil
		}
		if input {
			*ours = w
			return r
		}
		*ours = r
		return w
	}
	if t == nil {
		theirs = []*os.File{pipe(&p.in, true), pipe(&p.out, false), pipe(&p.errs, false)}
		return theirs, err
	}
	master, slave, err := openTerminal(t.size)
	if err != nil {
		return nil, err
	}
	p.terminal, p.in, p.out = true, master, master
	theirs = []*os.File{slave, slave, slave}
	if !t.errorsToo {
		theirs[2] = pipe(&p.errs, false)
	}
	return theirs, err
}

// await waits for the process, ends what is left of its group, and only then
// lets go of its id.
func (p *process) await(h *Host, cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.mu.Lock()
	p.gone = true
	unix.Kill(-p.pid, unix.SIGKILL)
	p.mu.Unlock()
	h.reaper.drop(p.pid)
	cmd.Wait()
	ws, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		p.ended = frame.Ended{Status: uint8(128 + int(ws.Signal())), Signal: uint8(ws.Signal())}
	} else {
		p.ended = frame.Ended{Status: uint8(ws.ExitStatus())}
	}
	close(p.done)
}

// signal sends a signal to the group, while it is this call's.
func (p *process) signal(s unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		unix.Kill(-p.pid, s)
	}
}

// end ends the process: as asked to, then by force, which comes sooner where
// the sandbox is at its end. It returns when it is gone.
func (p *process) end(h *Host) {
	if p.terminal {
		p.signal(unix.SIGHUP)
	}
	p.signal(unix.SIGTERM)
	p.signal(unix.SIGCONT)
	select {
	case <-p.done:
		return
	case <-time.After(graceTime):
	case <-h.ctx.Done():
		select {
		case <-p.done:
			return
		case <-time.After(closeTime):
		}
	}
	p.signal(unix.SIGKILL)
	<-p.done
}

// close closes our ends.
func (p *process) close() {
	for _, f := range []*os.File{p.in, p.out, p.errs} {
		if f != nil {
			f.Close()
		}
	}
}

// passed are the signals that a caller may send its call, by their number, and
// as what it gets them: a process with no shell above it is not stopped by
// TSTP (setpgid(2), orphaned groups).
var passed = map[uint8]unix.Signal{
	uint8(unix.SIGHUP): unix.SIGHUP, uint8(unix.SIGINT): unix.SIGINT, uint8(unix.SIGQUIT): unix.SIGQUIT,
	uint8(unix.SIGTERM): unix.SIGTERM, uint8(unix.SIGUSR1): unix.SIGUSR1, uint8(unix.SIGUSR2): unix.SIGUSR2,
	uint8(unix.SIGCONT): unix.SIGCONT, uint8(unix.SIGTSTP): unix.SIGSTOP, uint8(unix.SIGKILL): unix.SIGKILL,
	uint8(unix.SIGALRM): unix.SIGALRM, uint8(unix.SIGABRT): unix.SIGABRT,
}

// pass sends what the caller sent.
func (p *process) pass(number uint8) {
	if s, known := passed[number]; known {
		p.signal(s)
	}
}

// startFailed is why a tool could not be started, and the status that says so
// (as env(1) has it).
func startFailed(argv0 string, err error) (status uint8, why string) {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno
	}
	if errors.Is(err, os.ErrNotExist) {
		return 127, "the tool is not there any more: " + Shown([]string{argv0})
	}
	return 126, "the tool cannot be started: " + err.Error()
}
