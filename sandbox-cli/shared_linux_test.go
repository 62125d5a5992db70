package cli_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sharing locks a file, says so, tells which file it sees written from outside,
// and writes one itself.
const sharing = `import ctypes, fcntl, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init()
if libc.inotify_add_watch(watch, b".", 0x8) < 0: sys.exit("no watch: %d" % ctypes.get_errno())
lock = open("lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("here", flush=True)
seen = b""
while b"outside" not in seen: seen = os.read(watch, 4096)
print("seen", flush=True)
open("inside", "w").close()
sys.stdin.read()
`

// What one side writes in a written folder the other's watch sees, and a lock
// holds across the wall.
func TestWatchesAndLocksCrossTheWall(t *testing.T) {
	s := newSandbox(t)
	s.put("share.py", sharing)
	for name, flags := range map[string][]string{"the kernel": nil, "bubblewrap": {"--bubblewrap"}} {
		watch, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		events := os.NewFile(uintptr(watch), "inotify")
		defer events.Close()
		if _, err := syscall.InotifyAddWatch(watch, s.project, syscall.IN_CLOSE_WRITE); err != nil {
			t.Fatal(err)
		}
		if err := events.SetReadDeadline(time.Now().Add(hangGuard)); err != nil {
			t.Fatal(err)
		}
		r := s.begin(append(append([]string{lnk(), "sandbox", "run", "--yes"}, flags...), "--", "python3", "share.py"))
		lock, err := os.Open(filepath.Join(s.project, "lock"))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EWOULDBLOCK {
			t.Errorf("%s: a lock that is held inside: %v", name, err)
		}
		s.put("outside", "x")
		if line, err := r.out.ReadString('\n'); err != nil || line != "seen\n" {
			t.Errorf("%s: the watch inside: %q, %v", name, line, err)
		}
		for seen := []byte{}; !bytes.Contains(seen, []byte("inside")); {
			piece := make([]byte, 4096)
			n, err := events.Read(piece)
			if err != nil {
				t.Fatalf("%s: the watch outside: %v", name, err)
			}
			seen = append(seen, piece[:n]...)
		}
		r.end(t)
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			t.Errorf("%s: the lock outlives its sandbox: %v", name, err)
		}
		lock.Close()
	}
}

// accessList gives a list as file systems keep it (acl(5)) that lets a user do
// anything, as does the owner.
func accessList(user uint32) []byte {
	list := binary.LittleEndian.AppendUint32(nil, 2)
	const owner, named, group, mask, other, nobody = 1, 2, 4, 16, 32, 1<<32 - 1
	for _, e := range [][3]uint32{{owner, 7, nobody}, {named, 7, user}, {group, 5, nobody}, {mask, 7, nobody}, {other, 5, nobody}} {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
		list = binary.LittleEndian.AppendUint32(list, e[2])
	}
	return list
}

// A folder's list of who may what is given to what the program makes in it, for
// users that are not known inside too.
func TestAccessListsAreInherited(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: to name another user, whom these tests' own namespace does not know")
	}
	s := newSandbox(t)
	err := syscall.Setxattr(s.project, "system.posix_acl_default", accessList(54321), 0)
	if err != nil {
		t.Fatal(err) // ENOTSUP: these tests want a file system with access lists
	}
	s.must("--", "sh", "-c", "mkdir made; echo x > made/file; chmod o-r made/file")
	list := make([]byte, 256)
	n, err := syscall.Getxattr(filepath.Join(s.project, "made/file"), "system.posix_acl_access", list)
	if err != nil || !bytes.Contains(list[:n], []byte("\x31\xd4\x00\x00")) {
		t.Errorf("%x: %v", list[:max(n, 0)], err)
	}
	// Nobody but the users that are known inside can be named there.
	e := s.run("--", "cp", "-p", "made/file", "copy")
	if e.status == 0 || !strings.Contains(e.errors, "Invalid argument") {
		t.Errorf("cp -p: status %d, %q", e.status, e.errors)
	}
}
