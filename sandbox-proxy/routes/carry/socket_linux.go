package carry

import (
	"context"
	"errors"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// dialSocket connects to the socket at a path that has no links, if it and who
// listens on it are this user's or root's. What was looked at is what is
// connected to: by its descriptor and not by its name (unix(7), proc(5)).
func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return nil, &socketError{"the plugin's socket is not there: is the plugin running"}
	case errors.Is(err, unix.ELOOP):
		return nil, &socketError{"the plugin's socket is behind a link that was not there at the start"}
	case err != nil:
		return nil, &socketError{"the plugin's socket cannot be looked at"}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return nil, &socketError{"what stands at the plugin's socket is none"}
	}
	if !trusted(st.Uid) {
		return nil, &socketError{"the plugin's socket is another user's"}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", "/proc/self/fd/"+strconv.Itoa(fd))
	if errors.Is(err, unix.ECONNREFUSED) {
		return nil, &socketError{"nobody listens on the plugin's socket: is the plugin running"}
	}
	if err != nil {
		return nil, err
	}
	if err := checkPeer(c.(*net.UnixConn)); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// checkPeer looks at who listens: the credentials are those of listen(2).
func checkPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if failed != nil || !trusted(peer.Uid) {
		return &socketError{"who listens on the plugin's socket is another user"}
	}
	return nil
}

func trusted(uid uint32) bool { return uid == 0 || int(uid) == unix.Getuid() }
