package tunnel

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"
)

// No call waits on a socket, though the socket itself would have it wait: the
// whole process would.
func TestNowNeverWaits(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	near, far := uintptr(pair[0]), uintptr(pair[1])
	buf := make([]byte, 64<<10)
	if n, err := readNow(near, buf); err != unix.EAGAIN {
		t.Errorf("a read of nothing: %d, %v", n, err)
	}
	if n, err := writeNow(far, []byte("words")); n != 5 || err != nil {
		t.Errorf("a write: %d, %v", n, err)
	}
	if n, err := readNow(near, buf); err != nil || !bytes.Equal(buf[:n], []byte("words")) {
		t.Errorf("a read: %q, %v", buf[:n], err)
	}
	for err = nil; err == nil; {
		_, err = writeNow(near, buf)
	}
	if err != unix.EAGAIN {
		t.Errorf("a write without room: %v", err)
	}
	unix.Close(pair[1])
	if n, err := writeNow(near, buf); err != unix.EPIPE {
		t.Errorf("a write to nobody: %d, %v", n, err) // and no SIGPIPE
	}
	if n, err := readNow(near, buf); n != 0 || err != nil && err != unix.ECONNRESET {
		t.Errorf("a read from nobody: %d, %v", n, err)
	}
}
