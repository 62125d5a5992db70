//go:build !linux

package carry

import (
	"context"
	"net"
	"os"
	"syscall"
)

// dialSocket connects to the socket at a path, if it is this user's or root's
// and no link.
func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil, &socketError{"the plugin's socket is not there: is the plugin running"}
	case err != nil:
		return nil, &socketError{"the plugin's socket cannot be looked at"}
	case info.Mode().Type() != os.ModeSocket:
		return nil, &socketError{"what stands at the plugin's socket is none"}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 && int(st.Uid) != os.Getuid() {
		return nil, &socketError{"the plugin's socket is another user's"}
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}
