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
	for errno, want := range map[syscall.Errno]string{syscall.EACCES: "for root alone", syscall.EADDRINUSE: "end that"} {
		if got := freed(fmt.Errorf("port 80: %w", errno)); !strings.Contains(got, want) {
			t.Errorf("%v: %q", errno, got)
		}
	}
}
