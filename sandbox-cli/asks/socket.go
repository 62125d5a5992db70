package asks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

const (
	// talkTime bounds one exchange on a socket.
	talkTime = 5 * time.Second
	// maxTalk bounds what either side says, in bytes.
	maxTalk = 1 << 20
	// maxDesks bounds the sockets that are looked at.
	maxDesks = 1024
)

// A socket answers on a desk's behalf.
type socket struct {
	listener *net.UnixListener
	path     string
	work     sync.WaitGroup
}

// open makes the desk's socket: only this user reaches it, by the modes of the
// folder and the socket, and whoever calls is looked at.
func (d *Desk) open() (*socket, error) {
	if err := os.MkdirAll(d.config.Folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(d.config.Folder, name(os.Getpid()))
	os.Remove(path) // of a process that had this number before
	short, release, err := reachable(path)
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	s := &socket{listener: l, path: path}
	s.work.Go(func() {
		for {
			c, err := l.AcceptUnix()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				time.Sleep(10 * time.Millisecond) // out of descriptors
				continue
			}
			d.talk(c)
		}
	})
	return s, nil
}

func (s *socket) close() {
	s.listener.Close()
	s.work.Wait()
	os.Remove(s.path)
}

// A said is what is asked of a desk: what waits, or to answer one.
type said struct {
	id    string
	allow bool
}

// talk answers one connection.
func (d *Desk) talk(c *net.UnixConn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(talkTime))
	if uid, err := peer(c); err != nil || uid != os.Getuid() && uid != 0 {
		return
	}
	var s said
	err := form.Read(form.Line(io.LimitReader(c, maxTalk)), form.Object(
		form.Optional("id", form.String(&s.id)),
		form.Optional("allow", form.Bool(&s.allow)),
	))
	if err != nil {
		return
	}
	answer := deskAnswer{}
	if s.id == "" {
		answer.Asks = d.pending()
	} else if err := d.answer(s.id, s.allow); err != nil {
		answer.Error = err.Error()
	}
	form.Write(c, answer)
}

type deskAnswer struct {
	Asks  []Question `json:"asks,omitempty"`
	Error string     `json:"error,omitempty"`
}

// Pending gives what waits on every desk, the longest first. A socket that
// nobody answers on is removed, once its process is gone.
func Pending(folder string) ([]Question, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Question
	for _, e := range entries[:min(len(entries), maxDesks)] {
		if !strings.HasSuffix(e.Name(), ".sock") {
			continue
		}
		path := filepath.Join(folder, e.Name())
		a, err := call(path, map[string]any{})
		switch {
		case refused(err):
			// Or it is not listening yet.
			if gone(e.Name()) {
				os.Remove(path)
			}
		case err != nil:
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		default:
			all = append(all, a.Asks...)
		}
	}
	slices.SortStableFunc(all, func(a, b Question) int { return int(a.Since - b.Since) })
	return all, nil
}

// gone says whether the process that a desk's socket is named after has ended.
func gone(socket string) bool {
	pid, err := strconv.Atoi(strings.TrimSuffix(socket, ".sock"))
	return err != nil || pid <= 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// Answer answers a question by its id.
func Answer(folder, id string, allow bool) error {
	pid, _, ok := strings.Cut(id, "-")
	if !ok || pid == "" || strings.Trim(pid, "0123456789") != "" {
		return fmt.Errorf("%s: not a question's id: lnk sandbox asks lists them", form.Quote(id))
	}
	a, err := call(filepath.Join(folder, pid+".sock"), map[string]any{"id": id, "allow": allow})
	switch {
	case refused(err) || errors.Is(err, os.ErrNotExist):
		return errAnswered
	case err != nil:
		return err
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

func call(path string, what map[string]any) (a deskAnswer, err error) {
	short, release, err := reachable(path)
	if err != nil {
		return a, err
	}
	defer release()
	c, err := net.DialTimeout("unix", short, talkTime)
	if err != nil {
		return a, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(talkTime))
	if err := form.Write(c, what); err != nil {
		return a, err
	}
	text, err := io.ReadAll(bufio.NewReader(io.LimitReader(c, maxTalk)))
	if err != nil {
		return a, err
	}
	return a, form.Unmarshal(text, form.Object(
		form.Optional("asks", form.List(&a.Asks, questionShape)),
		form.Optional("error", form.String(&a.Error)),
	))
}

func questionShape(q *Question) form.Shape {
	return form.Object(
		form.Required("id", form.String(&q.ID)),
		form.Required("sandbox", form.String(&q.Sandbox)),
		form.Required("name", form.String(&q.Name)),
		form.Required("call", form.String(&q.Call)),
		form.Required("folder", form.String(&q.Folder)),
		form.Required("since", form.Whole(&q.Since, 0, 1<<53)),
	)
}
