//go:build linux

package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func probesOfArch() []probe {
	p := func(name string, nr uintptr, closed answer, door bool, args ...uintptr) probe {
		var a [6]uintptr
		copy(a[:], args)
		return probe{name, nr, a, closed, door}
	}
	return []probe{
		p("chown to another user", unix.SYS_CHOWN, eperm, true, bad, 4, bad),
		p("lchown to another group", unix.SYS_LCHOWN, eperm, true, bad, bad, 4),
		p("ioperm", unix.SYS_IOPERM, eperm, true, bad, bad, 0),
		p("iopl", unix.SYS_IOPL, eperm, true, 99),
		p("modify_ldt", unix.SYS_MODIFY_LDT, eperm, true, 0, buf(), 16),
		p("uselib", unix.SYS_USELIB, eperm, true, bad),
		p("chmod to set-user-id", unix.SYS_CHMOD, eperm, true, bad, 0o4755),
		p("creat of a set-user-id file", unix.SYS_CREAT, eperm, true, bad, 0o4755),
		p("mknod of a set-user-id file", unix.SYS_MKNOD, eperm, true, bad, 0o104755, 0),
		p("open of a set-user-id file", unix.SYS_OPEN, eperm, true, bad, unix.O_CREAT, 0o4755),
		p("x32 getpid", 0x40000000|unix.SYS_GETPID, enosys, false),
		p("x32 socket", 0x40000000|unix.SYS_SOCKET, enosys, false, unix.AF_INET, unix.SOCK_STREAM),
	}
}

// int80 asks for the process id as a 32-bit program does, from a page of three
// instructions: mov $20,%eax; int $0x80; ret.
func int80() error {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	copy(page, "\xb8\x14\x00\x00\x00\xcd\x80\xc3")
	code := &page[0]
	function := &code // a func is the address of where its code's address is
	(*(*func())(unsafe.Pointer(&function)))()
	return nil
}
