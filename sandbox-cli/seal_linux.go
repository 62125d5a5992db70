package cli

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// seal keeps the proxy's memory, once secrets are in it, from core dumps and
// from other processes of the user's (prctl(2), PR_SET_DUMPABLE; core(5)). It
// is for after the child is started: its user namespace is set up through /proc,
// which a sealed process cannot write.
func (r routed) seal() error {
	if len(r.mounts.Routes) == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keeping secrets out of core dumps: %w", err)
	}
	return nil
}
