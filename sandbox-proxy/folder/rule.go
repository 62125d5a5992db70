package folder

import (
	"errors"
	"fmt"
	"io/fs"
)

// Names of the sockets.
const (
	Out     = "out.sock"
	DNS     = "dns.sock"
	In      = "in.sock"
	Desktop = "desktop.sock"
)

// Anyone is no user or group in particular.
const Anyone = -1

// ErrFolder is wrapped by every refusal of a folder or of what is in it.
var ErrFolder = errors.New("not a folder for a proxy's sockets")

// ErrServed says that something listens on a socket that was to be made.
var ErrServed = errors.New("another is listening there")

const (
	private = 0o700
	shared  = 0o2770
)

// facts are what is known of a folder.
type facts struct {
	isDir    bool
	mode     uint32 // its permissions, set-id bits among them
	uid, gid int
}

// judge decides about a folder for a user and, where group is not Anyone, one
// that is shared with that group.
func judge(f facts, user int, mine func(gid int) bool, group int) error {
	switch {
	case !f.isDir:
		return fmt.Errorf("%w: it is no folder", ErrFolder)
	case group != Anyone && (f.gid != group || f.mode != shared):
		return fmt.Errorf("%w: it is of group %d with mode %04o: want group %d and mode 2770", ErrFolder, f.gid, f.mode, group)
	case group != Anyone:
		return nil
	case f.mode == shared && (f.uid == user || mine(f.gid)):
		return nil
	case f.uid != user:
		return fmt.Errorf("%w: it is user %d's: want one of your own", ErrFolder, f.uid)
	case f.mode != private:
		return fmt.Errorf("%w: its mode is %04o: want 0700, or 2770 to share it with its group", ErrFolder, f.mode)
	}
	return nil
}

// sockets are all that belongs in such a folder.
var sockets = []string{Out, DNS, In, Desktop}

// tightened says whether a folder of the user's own with that mode is made
// private: one that others may enter, as mkdir(1) makes it, and no folder of a
// kind of its own (sticky, or with its group's id set).
func tightened(mode uint32) bool { return mode != private && mode&0o7000 == 0 && mode&0o700 == 0o700 }

// modeOf is a socket's, in a folder of that mode.
func modeOf(folder uint32) fs.FileMode {
	if folder == shared {
		return 0o660
	}
	return 0o600
}
