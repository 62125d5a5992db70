package probes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// status is what the program ends with that is executed by a probe, which is
// this one: [Executed] says that it is.
const (
	status = 42
	mark   = "LNK_CHECK_EXECUTED"
)

// Executed is called first by a program that makes attempts: it is what some of
// them execute.
func Executed() {
	if os.Getenv(mark) != "" {
		os.Exit(status)
	}
}

// execute starts a copy of this program.
func execute(memory bool) Result {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return untried(err)
	}
	defer from.Close()
	var at string
	if memory {
		fd, err := unix.MemfdCreate("check", unix.MFD_CLOEXEC)
		if err != nil {
			return no(err)
		}
		to := os.NewFile(uintptr(fd), "memory")
		defer to.Close()
		if _, err := io.Copy(to, from); err != nil {
			return untried(err)
		}
		at = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	} else {
		dir, err := os.MkdirTemp("", "lnk-check-")
		if err != nil {
			return untried(err)
		}
		defer os.RemoveAll(dir)
		at = filepath.Join(dir, "program")
		to, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
		if err != nil {
			return untried(err)
		}
		_, err = io.Copy(to, from)
		if err = errors.Join(err, to.Close()); err != nil {
			return untried(err)
		}
	}
	cmd := exec.Command(at)
	cmd.Env = append(os.Environ(), mark+"=1")
	err = cmd.Run()
	for range 20 { // another fork may hold the file open to write (golang/go#22315)
		if !errors.Is(err, unix.ETXTBSY) {
			break
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 50e6}, nil)
		cmd = exec.Command(at)
		cmd.Env = append(os.Environ(), mark+"=1")
		err = cmd.Run()
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == status {
		return did("it ran")
	}
	if err == nil {
		return Result{Detail: "another program ran"}
	}
	return no(err)
}

// askKernel asks for one thing, and gives it back.
func askKernel(what string) Result {
	switch what {
	case "userns":
		return started(&syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}, false)
	case "trace":
		return started(&syscall.SysProcAttr{Ptrace: true}, true)
	case "mount":
		fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
		return opened(fd, err)
	case "uring":
		var params [120]byte // struct io_uring_params, all zeros (io_uring_setup(2))
		return called(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	case "bpf":
		var attr [128]byte // union bpf_attr: an array of one
		attr[0], attr[4], attr[8], attr[12] = unix.BPF_MAP_TYPE_ARRAY, 4, 4, 1
		return called(unix.SYS_BPF, unix.BPF_MAP_CREATE, uintptr(unsafe.Pointer(&attr)), uintptr(len(attr)))
	case "keys":
		id, err := unix.AddKey("user", "lnk-check", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
		if err != nil {
			return no(err)
		}
		unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_PROCESS_KEYRING, 0, 0)
		return did("key %d was added", id)
	case "perf":
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Bits: unix.PerfBitExcludeKernel}
		attr.Size = uint32(unsafe.Sizeof(attr))
		fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		return opened(fd, err)
	case "raw":
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
		return opened(fd, err)
	case "packet":
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		return opened(fd, err)
	case "vsock":
		fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		if errors.Is(err, unix.EAFNOSUPPORT) {
			return Result{Detail: err.Error()} // the filter says so too
		}
		return opened(fd, err)
	case "privileges":
		if set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || set != 1 {
			return did("a set-user-id program would have its owner's")
		}
		return Result{Detail: "no_new_privs is set"}
	case "capabilities":
		return capabilities()
	}
	return Result{Untried: true, Detail: "no such question: " + what}
}

func opened(fd int, err error) Result {
	if err != nil {
		return no(err)
	}
	unix.Close(fd)
	return did("it was made")
}

func called(number, a, b, c uintptr) Result {
	fd, _, errno := unix.Syscall(number, a, b, c)
	if errno != 0 {
		return no(errno)
	}
	unix.Close(int(fd))
	return did("it was made")
}

// started starts this program in another way. A traced one stops at its start,
// and is ended there.
func started(how *syscall.SysProcAttr, traced bool) Result {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), mark+"=1")
	cmd.SysProcAttr = how
	if err := cmd.Start(); err != nil {
		return no(err)
	}
	if traced {
		cmd.Process.Kill()
	}
	cmd.Wait()
	return did("it was done")
}

// capabilities are those that this process has or could have (proc(5)).
func capabilities() Result {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return untried(err)
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd":
			if value = strings.TrimSpace(value); strings.Trim(value, "0") != "" {
				return did("%s is %s", name, value)
			}
		}
	}
	return Result{Detail: "none, and none to be had"}
}
