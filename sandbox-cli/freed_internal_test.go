//go:build linux

package cli

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// Advice for a port that cannot be had is for why it cannot.
func TestFreed(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.EACCES: ": be root, or serve another", syscall.EADDRINUSE: "end that, or serve another",
		syscall.EADDRNOTAVAIL: "`ip link set lo up`",
	} {
		if got := freed(fmt.Errorf("port 80: %w", errno), "serve another"); !strings.HasSuffix(got, want) {
			t.Errorf("%v: %q", errno, got)
		}
	}
}
