package relay

import (
	"net"
	"strconv"
	"testing"
)

func TestLoopback(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := uint16(taken.Addr().(*net.TCPAddr).Port)
	if all, err := Loopback(port); err == nil {
		t.Errorf("a port that is taken: %v", all)
	} else if want := "port " + strconv.Itoa(int(port)) + ": address already in use"; err.Error() != want {
		t.Errorf("got %q", err)
	}
	six, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("needs ipv6: a second loopback")
	}
	defer six.Close()
	port = uint16(six.Addr().(*net.TCPAddr).Port)
	if all, err := Loopback(port); err == nil {
		t.Errorf("a port that is taken on ::1: %v", all)
	}
	if again, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(int(port))); err != nil {
		t.Errorf("the other half was left open: %v", err)
	} else {
		again.Close()
	}
}
