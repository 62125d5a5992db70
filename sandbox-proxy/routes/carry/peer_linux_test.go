package carry_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A socket that is root's, on which another user listens.
func TestSocketOfAnotherListener(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: to listen as another user")
	}
	dir := folder(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "p.sock")
	type listened struct {
		net.Listener
		err error
	}
	made := make(chan listened)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		const same = ^uintptr(0)
		if _, _, no := unix.RawSyscall(unix.SYS_SETRESUID, same, 54321, same); no != 0 {
			made <- listened{nil, no}
			return
		}
		ln, err := net.Listen("unix", path)
		made <- listened{ln, err}
	}()
	ln := <-made
	if ln.err != nil {
		t.Fatal(ln.err)
	}
	s := &http.Server{Handler: http.HandlerFunc(echo)}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
	if err := os.Lchown(path, 0, 0); err != nil {
		t.Fatal(err)
	}
	l := start(t, plugin(path), nil)
	if resp, body := l.ask("GET", "/", ""); resp.StatusCode != 403 || !strings.Contains(body, "who listens") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}
