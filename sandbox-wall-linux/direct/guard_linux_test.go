package direct

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A guard whose maker was killed before it could ask to end with it ends by
// itself: it sees that its parent is another.
func TestGuardOfTheDead(t *testing.T) {
	for maker, ends := range map[int]bool{os.Getpid() + 1: true, os.Getpid(): false} {
		r, w, stack, err := newWaiting()
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		s := &script{}
		s.about("nothing")
		s.anyway(unix.SYS_NANOSLEEP, s.words(0, guardAgain), n(0))
		l, err := s.link(r, 0)
		if err != nil {
			t.Fatal(err)
		}
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		held, err := unix.FcntlInt(null.Fd(), unix.F_DUPFD_CLOEXEC, 10)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(held)
		w.hold, w.early, w.after, w.maker = uintptr(held), l.calls, l.calls, uintptr(maker)
		pid, err := w.start(stack, 0)
		if err != nil {
			t.Fatal(err)
		}
		patience := 20 * time.Second
		if !ends {
			patience = 100 * time.Millisecond
		}
		var ws unix.WaitStatus
		ended := false
		for deadline := time.Now().Add(patience); !ended && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			got, err := unix.Wait4(pid, &ws, unix.WNOHANG, nil)
			ended = got == pid && err == nil
		}
		if ended != ends {
			t.Errorf("maker is the parent: %v, ended: %v", !ends, ended)
		}
		if !ended {
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}
}
