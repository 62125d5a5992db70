package direct

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/noexec"
)

// inMounts runs f as root on a thread with mounts of its own, which ends with it.
func inMounts(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: nobody else's sandbox owns what root does")
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := errors.Join(unix.Unshare(unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "")); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

// lay makes files, whose modes are behind their texts, in a folder.
func lay(t *testing.T, dir string, files map[string]os.FileMode) {
	t.Helper()
	for name, mode := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("text of "+name+"\n"), mode), os.Chmod(at, mode)); err != nil {
			t.Error(err)
		}
	}
}

// othersStep shows a folder as others see it.
func othersStep(t *testing.T, at string) linuxwall.Step {
	s := bind(t, linuxwall.Read, at)
	s.Others = true
	return s
}

// Of a folder that is shown as others see it, root's sandbox reads what they may,
// whatever it is called and however it came there.
func TestAsOthersSee(t *testing.T) {
	dir := t.TempDir()
	inMounts(t, func() {
		lay(t, dir, map[string]os.FileMode{
			"open": 0o644, "run": 0o755, "own": 0o600, "group": 0o640, "ownrun": 0o700, "in/open": 0o644, "in/own": 0o600, "shut/open": 0o644, "mounted/x": 0o644,
		})
		err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(dir+"/run", []byte("#!/bin/sh\necho ran\n"), 0o755), os.Chmod(dir+"/shut", 0o700),
			os.Link(dir+"/own", dir+"/in/linked"), os.Symlink("own", dir+"/link"),
			unix.Mount("what is mounted in it", dir+"/mounted", "tmpfs", 0, "mode=0755"))
		if err != nil {
			t.Error(err)
			return
		}
		lay(t, dir+"/mounted", map[string]os.FileMode{"open": 0o644, "own": 0o600})
		mounted := "text of open\n"
		if !System(nil).Others(dir) {
			mounted = ""
			t.Log("without tmpfs, which Linux before 6.3 cannot show so")
			if err := unix.Unmount(dir+"/mounted", 0); err != nil || !System(nil).Others(dir) {
				t.Errorf("this file system cannot be shown so: %v", err)
				return
			}
		}
		tries := `exec 2>/dev/null; cd ` + dir + `
cat open in/open mounted/open
for f in own group link in/own in/linked shut/open mounted/own mounted/../own; do cat $f; cat <$f; done
exec 4<. ; cat /proc/self/fd/4/own /proc/self/cwd/own
ls shut; mount -o remount,rw . ; chmod 644 own; chown 0 own; touch new; rm open
grep -c -E ' (shared|master|propagate_from):' /proc/self/mountinfo
./run; ./ownrun
true`
		want := "text of open\ntext of in/open\n" + mounted + "0\nran"
		r := runHere(small(t, othersStep(t, dir)), []string{"sh", "-c", tries})
		if r.failed != nil || r.status != 0 || r.out != want {
			t.Errorf("%+v, want %q", r, want)
		}
		// As it is, root reads all of it: so the test sees.
		r = runHere(small(t, bind(t, linuxwall.Read, dir)), []string{"sh", "-c", "cat " + dir + "/own"})
		if r.failed != nil || r.out != "text of own" {
			t.Errorf("with no wall: %+v", r)
		}
		// Where nothing may be executed but what is named.
		none := small(t, othersStep(t, dir))
		none.NoExec = &noexec.Orders{NoExec: true}
		for _, at := range []string{"/usr", "/bin", "/lib", "/lib64"} {
			if fi, err := os.Lstat(at); err == nil && fi.IsDir() {
				n := node(t, at)
				none.NoExec.Places = append(none.NoExec.Places, noexec.Place{Path: at, Dev: n.Dev, Ino: n.Ino, Code: true})
			}
		}
		r = runHere(none, []string{"sh", "-c", dir + "/run 2>/dev/null || echo not"})
		if r.failed != nil || r.out != "not" {
			t.Errorf("noexec: %+v", r)
		}
		// What came in its place since it was looked at is not shown.
		moved := othersStep(t, dir)
		moved.Is.Ino++
		if r := runHere(small(t, moved), []string{"true"}); !errors.Is(r.failed, linuxwall.ErrChanged) {
			t.Errorf("another folder: %+v", r)
		}
	})
}

// What takes no such mounts is not shown so: an overlay, as a container's files are
// on; nor has an ordinary user the right to.
func TestNotAsOthersSee(t *testing.T) {
	if os.Getuid() != 0 {
		if System(nil).Others("/etc") {
			t.Error("shown to an ordinary user")
		}
		return
	}
	dir := t.TempDir()
	inMounts(t, func() {
		for _, d := range []string{"a", "b", "w", "m"} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
				t.Error(err)
				return
			}
		}
		if err := unix.Mount("overlay", dir+"/m", "overlay", 0, "lowerdir="+dir+"/a,upperdir="+dir+"/b,workdir="+dir+"/w"); err != nil {
			t.Logf("no overlay here: %v", err)
		} else if System(nil).Others(dir + "/m") {
			t.Error("an overlay is shown so")
		}
		if err := os.Symlink("a", dir+"/l"); err != nil || System(nil).Others(dir+"/l") || System(nil).Others(dir+"/none") {
			t.Errorf("a link, or nothing, is shown so: %v", err)
		}
	})
}

// readGroup is a list that lets a group read a file which is closed otherwise, as
// the kernel keeps it (linux/posix_acl_xattr.h).
func readGroup(group uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][3]uint32{{0x01, 6, ^uint32(0)}, {0x04, 0, ^uint32(0)}, {0x08, 4, group}, {0x10, 4, ^uint32(0)}, {0x20, 0, ^uint32(0)}} {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return b
}

// Nobody is in nobody's group there: not root that is in the group which others
// have for want of one, or whom a list names by it.
func TestAsOthersSeeInGroups(t *testing.T) {
	dir := t.TempDir()
	inMounts(t, func() {
		lay(t, dir, map[string]os.FileMode{"open": 0o644, "group": 0o640, "listed": 0o640})
		err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir+"/group", 0, overflowID), os.Chown(dir+"/listed", 1, 1))
		if err == nil {
			if err := unix.Setxattr(dir+"/listed", "system.posix_acl_access", readGroup(overflowID), 0); err != nil {
				t.Logf("no lists here: %v", err)
			}
			// This thread's alone, which ends with the test.
			groups := uint32(overflowID)
			if _, _, errno := syscall.RawSyscall(unix.SYS_SETGROUPS, 1, uintptr(unsafe.Pointer(&groups)), 0); errno != 0 {
				err = errno
			}
		}
		if err != nil || !System(nil).Others(dir) {
			t.Errorf("this file system cannot be shown so: %v", err)
			return
		}
		tries := []string{"sh", "-c", "cd " + dir + "; cat open group listed 2>/dev/null; true"}
		if r := runHere(small(t, othersStep(t, dir)), tries); r.failed != nil || r.out != "text of open" {
			t.Errorf("%+v", r)
		}
	})
}

// A folder that is given is taken as others see it, and no other way.
func TestGivenIsAsOthersSee(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: nobody else can make one")
	}
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		make  func() (*os.File, error)
		taken bool
	}{
		{"as others see it", func() (*os.File, error) { return AsOthersSee(dir) }, true},
		{"another folder", func() (*os.File, error) { return AsOthersSee(filepath.Dir(dir)) }, false},
		{"as it is", func() (*os.File, error) { return os.Open(dir) }, false},
		{"a mount of it as it is", func() (*os.File, error) {
			fd, err := unix.OpenTree(unix.AT_FDCWD, dir, cloneAll)
			return os.NewFile(uintptr(fd), dir), err
		}, false},
	} {
		f, err := c.make()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if taken := System(Given{dir: int(f.Fd())}).Others(dir); taken != c.taken {
			t.Errorf("%s: taken %v", c.name, taken)
		}
		f.Close()
	}
}
