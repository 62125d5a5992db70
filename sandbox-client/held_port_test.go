package client_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

func TestHeldPort(t *testing.T) {
	h, err := client.HoldPort(0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	at := fmt.Sprintf("127.0.0.1:%d", h.Port())
	if h.Port() == 0 {
		t.Fatal("no port is held")
	}
	// Nobody else gets it.
	if other, err := client.HoldPort(h.Port()); err == nil {
		other.Close()
		t.Error("the port is held twice")
	}
	// A call that comes before the proxy has started waits for it.
	early, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()

	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), playVariable+"=serve")
	cmd.Stderr = os.Stderr
	// A descriptor that the caller hands on besides.
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd.ExtraFiles = []*os.File{null}
	if err := h.HandTo(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	b, err := io.ReadAll(early)
	if want := "served on " + at + " as 4"; err != nil || string(b) != want {
		t.Errorf("answered %q (%v), want %q", b, err, want)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	// Here it is let go, and with the command's end everywhere.
	if conn, err := net.Dial("tcp", at); err == nil {
		conn.Close()
		t.Error("somebody still listens")
	}
	if err := h.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if err := h.HandTo(exec.Command("true")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("handing on what is closed: %v", err)
	}
}

// It is this machine's own only.
func TestHeldPortIsOnLoopback(t *testing.T) {
	h, err := client.HoldPort(0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		ip := a.(*net.IPNet).IP
		if ip.To4() == nil || ip.IsLoopback() {
			continue
		}
		if conn, err := net.Dial("tcp", net.JoinHostPort(ip.String(), strconv.Itoa(int(h.Port())))); err == nil {
			conn.Close()
			t.Errorf("it answers on %s", ip)
		}
	}
	cmd := exec.Command("true")
	cmd.Env = []string{"A=1"}
	if err := h.HandTo(cmd); err != nil {
		t.Fatal(err)
	}
	if env := strings.Join(cmd.Env, " "); !strings.HasPrefix(env, "A=1 ") || !strings.Contains(env, client.ListenerVariable+"=3") || strings.Contains(env, "PATH=") {
		t.Errorf("the command's environment is %q", env)
	}
}
