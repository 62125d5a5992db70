package asks

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// controlling is the terminal that this process was started on (tty(4)).
const controlling = "/dev/tty"

// onTerminal puts a question on the terminal and gives the answer to it, unless
// it ends before. A terminal that is another's just now, since this process is
// in the background of its shell, is left alone, as where there is none: it is
// false, and the question waits elsewhere.
func (d *Desk) onTerminal(ctx context.Context, w *waiting) bool {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return true
	}
	d.mu.Lock()
	below := d.program
	d.mu.Unlock()
	// A tool's end may be told on this thread's signals: keep it for this.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t, err := takeTerminal(below)
	if err != nil {
		return false
	}
	defer t.giveBack()
	word := rand.Text()[:3]
	text := questionText(w.Question, strings.ToLower(word))
	if rows, columns := t.size(); !fits(text, rows, columns) {
		// What scrolls away is not read, and what is left could be made to look
		// like another question.
		t.say("\nlnk sandbox run: a question is too long for this terminal; to read and answer it: lnk sandbox asks\n")
		return false
	}
	t.say(text)
	if said, whole := t.line(ctx); whole {
		yes := strings.EqualFold(said, word)
		w.take(yes)
		if yes {
			t.say("allowed\n")
		} else {
			t.say("refused\n")
		}
		return true
	}
	t.say("\nanswered elsewhere, or given up\n")
	return true
}

// questionText is what stands on the terminal.
func questionText(q Question, word string) string {
	what := "run this outside"
	where := "  in " + q.Folder + "\n"
	if q.Folder == "" {
		what, where = "open this page in your browser", ""
	}
	return fmt.Sprintf("\nlnk sandbox run: the program in %s asks to %s:\n  %s\n%stype %s and Enter to allow it this once, Enter alone to refuse: ", q.Sandbox, what, q.Call, where, word)
}

// size is the terminal's rows and columns; zero where it does not say.
func (t *held) size() (rows, columns int) {
	w, err := unix.IoctlGetWinsize(t.fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(w.Row), int(w.Col)
}

// A held terminal is in the foreground of this process, with nobody else at it.
type held struct {
	fd         int
	foreground int
	was        *unix.Termios
	mask       unix.Sigset_t
	still      *still
	typed      unix.Signal // what was typed for the program, or 0
}

// plainScreen ends what the program may have begun to print and brings back a
// state that shows text: out of any string and sequence, a soft reset (which
// ends hidden and overprinted text and regions), the usual characters, no
// attributes (ECMA-48; DEC STD 070, DECSTR).
const plainScreen = "\x18\x1b\\\x1b[!p\x0f\x1b(B\x1b[0m\x1b[?25h"

// takeTerminal has the program stand still, and takes the terminal: the
// foreground, in a mode where what is typed is read here, with nothing typed
// before.
func takeTerminal(below int) (t *held, err error) {
	t = &held{fd: -1}
	if t.fd, err = unix.Open(controlling, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		return nil, err
	}
	// A process in the background is stopped when it changes its terminal,
	// unless it blocks the signal (tcsetpgrp(3)).
	block := unix.Sigset_t{}
	block.Val[0] = 1 << (uint(unix.SIGTTOU) - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &t.mask); err != nil {
		unix.Close(t.fd)
		return nil, err
	}
	if err := t.take(below); err != nil {
		t.giveBack()
		return nil, err
	}
	return t, nil
}

func (t *held) take(below int) error {
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil {
		return err
	}
	own := unix.Getpgrp()
	if group != own && (below == 0 || !slices.Contains(groupsBelow(below), group)) {
		return fmt.Errorf("the terminal is another's")
	}
	if below != 0 {
		if t.still, err = holdStill(below); err != nil {
			return err
		}
		// It may have handed the terminal on until it stood still.
		if group, err = unix.IoctlGetInt(t.fd, unix.TIOCGPGRP); err != nil {
			return err
		}
	}
	was, err := unix.IoctlGetTermios(t.fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.foreground, t.was = group, was
	if err := unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, own); err != nil {
		return err
	}
	now := *was
	now.Iflag = unix.ICRNL | unix.IUTF8
	now.Oflag = unix.OPOST | unix.ONLCR
	now.Lflag = 0 // neither lines, nor echo, nor signals: all is read here
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(t.fd, unix.TCSETS, &now); err != nil {
		return err
	}
	unix.IoctlSetInt(t.fd, unix.TCFLSH, unix.TCIFLUSH)
	if name := os.Getenv("TERM"); name != "" && name != "dumb" {
		t.say(plainScreen)
	}
	return nil
}

// giveBack has the terminal as it was, and the program go on; what is in the
// foreground then draws itself anew.
func (t *held) giveBack() {
	if t.was != nil {
		unix.IoctlSetTermios(t.fd, unix.TCSETS, t.was)
		unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, t.foreground)
	}
	if t.still != nil {
		t.still.goOn()
	}
	if t.was != nil {
		unix.Kill(-t.foreground, unix.SIGWINCH)
		if t.typed != 0 {
			unix.Kill(-t.foreground, t.typed)
		}
	}
	unix.PthreadSigmask(unix.SIG_SETMASK, &t.mask, nil)
	unix.Close(t.fd)
}

func (t *held) say(text string) {
	for b := []byte(text); len(b) > 0; {
		n, err := unix.Write(t.fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		b = b[n:]
	}
}

// maxLine bounds what is read of an answer, pollTime how long one wait for a
// key is.
const (
	maxLine  = 32
	pollTime = 50 // ms
)

// line reads what is typed up to Enter. Ctrl-D, Ctrl-C and Ctrl-\ are a no, the
// last two for the program too; whole is false where the wait ended before.
func (t *held) line(ctx context.Context) (said string, whole bool) {
	var typed []byte
	b := make([]byte, 1)
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, pollTime)
		if err == unix.EINTR || n == 0 {
			continue
		}
		if n, err = unix.Read(t.fd, b); err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return "", true // the terminal is gone
		}
		switch c := b[0]; {
		case c == '\n' || c == '\r':
			t.say("\n")
			return string(typed), true
		case c == 3 || c == 4 || c == 0x1c:
			t.say("\n")
			t.typed = map[byte]unix.Signal{3: unix.SIGINT, 0x1c: unix.SIGQUIT}[c]
			return "", true
		case c == 8 || c == 0x7f:
			if len(typed) > 0 {
				typed = typed[:len(typed)-1]
				t.say("\b \b")
			}
		case c > ' ' && c < 0x7f && len(typed) < maxLine:
			typed = append(typed, c)
			t.say(string(rune(c)))
		}
	}
	return "", false
}
