package client_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// playVariable has the test binary play a part of its own tests.
const playVariable = "LNK_CLIENT_TEST_PLAY"

func TestMain(m *testing.M) {
	switch os.Getenv(playVariable) {
	case "wait":
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "serve":
		os.Exit(serveHeld())
	}
	goleak.VerifyTestMain(m)
}

// serveHeld plays a proxy that is handed its listener: it answers one call.
func serveHeld() int {
	fd, err := strconv.Atoi(os.Getenv(client.ListenerVariable))
	if err != nil {
		fmt.Fprintln(os.Stderr, "no listener:", err)
		return 1
	}
	l, err := net.FileListener(os.NewFile(uintptr(fd), "listener"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	conn, err := l.Accept()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintf(conn, "served on %s as %d", l.Addr(), fd)
	conn.Close()
	return 0
}

// killNoted ends the process whose id a script noted.
func killNoted(t *testing.T, notes string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(note(t, notes, "child")))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}
