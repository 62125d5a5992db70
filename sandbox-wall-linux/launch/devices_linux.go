package launch

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
)

// A stream that is a device of this machine is opened anew inside, where that is
// shown read only. Whom a device belongs to changes its mode and its owner by
// what was opened outside (fchmod(2)), for everybody and for good: root those of
// /dev/null, anybody those of his terminal. And flags of what is open are then
// the program's own (fcntl(2), F_SETFL).

// insideConsole is where the terminal that a stream is on is shown inside.
const insideConsole = "/dev/console"

// harmless are names below /dev, by their number among the memory devices
// (Documentation/admin-guide/devices.txt).
var harmless = map[uint32]string{3: "null", 5: "zero", 7: "full", 8: "random", 9: "urandom"}

// harmlessName is the name of such a device, or "".
func harmlessName(device uint64) string {
	if unix.Major(device) != 1 {
		return ""
	}
	return harmless[unix.Minor(device)]
}

// insideDevice is where the device that a stream is has its place inside, or "".
// console is the file of the terminal that is shown there, as it is seen here.
func insideDevice(fd int, console string) string {
	var st, there unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return ""
	}
	if name := harmlessName(st.Rdev); name != "" {
		return "/dev/" + name
	}
	if console != "" && unix.Lstat(console, &there) == nil && there.Dev == st.Dev && there.Ino == st.Ino {
		return insideConsole
	}
	return ""
}

// insideFlags are those that a device is opened with again.
func insideFlags(fd int) int {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return unix.O_RDWR | unix.O_NOCTTY
	}
	return flags&(unix.O_ACCMODE|unix.O_APPEND|unix.O_NONBLOCK) | unix.O_NOCTTY
}

// opensInside says which streams are to be opened anew.
func (s *Spec) opensInside(console string) (all [3]direct.Device) {
	for i, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if f == nil {
			all[i] = direct.Device{Path: os.DevNull, Flags: unix.O_RDWR}
		} else if at := insideDevice(int(f.Fd()), console); at != "" {
			all[i] = direct.Device{Path: at, Flags: insideFlags(int(f.Fd()))}
		}
	}
	return all
}

// machineDevices are those of this machine that every sandbox has in its /dev.
var machineDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// Devices are those of this machine that a program with these streams has, by
// their paths here.
func Devices(e Early) (paths []string) {
	for _, at := range append(slices.Clone(machineDevices), consoleOf(e.Stdout, e.Stdin, e.Stderr)) {
		var st unix.Stat_t
		if at != "" && unix.Lstat(at, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR {
			paths = append(paths, at)
		}
	}
	return paths
}

// reopen opens this process' streams anew, inside.
func reopen() {
	for fd := range 3 {
		at := insideDevice(fd, insideConsole)
		if at == "" {
			continue
		}
		if opened, err := unix.Open(at, insideFlags(fd)|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.Dup3(opened, fd, 0)
			unix.Close(opened)
		}
	}
}
