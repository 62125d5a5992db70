package seccomp

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// What is closed whatever its arguments, written a second time, apart from the
// rules.
var (
	refused = strings.Fields(`acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module
		fanotify_init fanotify_mark finit_module init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl
		lookup_dcookie migrate_pages modify_ldt mount move_pages name_to_handle_at open_by_handle_at
		perf_event_open pidfd_getfd pivot_root quotactl quotactl_fd reboot request_key setdomainname sethostname
		setns settimeofday swapoff swapon syslog umount2 uselib userfaultfd vhangup`)
	missing = strings.Fields(`clone3 fsconfig fsmount fsopen fspick io_uring_enter io_uring_register
		io_uring_setup listmount listns mount_setattr move_mount open_tree open_tree_attr openat2 statmount`)
	tracing = strings.Fields(`ptrace process_vm_readv process_vm_writev`)
)

// With all arguments zero, every call that a table names is open but for what
// is listed above. (A socket of family 0 is none of those that are open.)
func TestEveryCall(t *testing.T) {
	for _, o := range every() {
		want := map[string]answer{"socket": eafnosupport, "socketpair": eafnosupport}
		for _, name := range refused {
			want[name] = eperm
		}
		for _, name := range missing {
			want[name] = enosys
		}
		for _, name := range tracing {
			if !o.Trace {
				want[name] = eperm
			}
		}
		if o.NoMemfd {
			want["memfd_create"] = eperm
		}
		if o.NoGroupSignal {
			want["kill"] = eperm
		}
		a, _ := o.arch()
		m := newMachine(t, o)
		for _, c := range a.calls {
			if got := m.ask(c.nr, 0, 0, 0, 0, 0, 0); got != want[c.name] {
				t.Errorf("%+v: %s: %d, want %d", o, c.name, got, want[c.name])
			}
			delete(want, c.name)
		}
		for name := range want {
			// Only these are of one architecture alone.
			if o.Arch == "arm64" && strings.Contains(" uselib modify_ldt iopl ioperm ", " "+name+" ") {
				continue
			}
			t.Errorf("%+v: %s: no such call, so its rule closes nothing", o, name)
		}
	}
}

// A number without a name does not exist, and neither do those of x32.
func TestUnnamedNumbers(t *testing.T) {
	for _, o := range every() {
		a, _ := o.arch()
		named := map[uint32]bool{}
		for _, c := range a.calls {
			named[c.nr] = true
		}
		m := newMachine(t, o)
		for nr := uint32(0); nr < 2048; nr++ {
			if !named[nr] && m.ask(nr) != enosys {
				t.Errorf("%+v: call %d has no name and is open", o, nr)
			}
			if m.ask(nr|0x40000000) != enosys {
				t.Errorf("%+v: x32 call %d is open", o, nr)
			}
		}
		for _, nr := range []uint32{0x7fffffff, 0x80000000, 0xffffffff} {
			if m.ask(nr) != enosys {
				t.Errorf("%+v: call %#x is open", o, nr)
			}
		}
	}
}

func TestForeignArchitectureEnds(t *testing.T) {
	audits := map[string]uint32{
		"i386": 0x40000003, "amd64": auditAMD64, "arm": 0x40000028, "arm64": auditARM64,
		"arm64 big endian": 0x800000b7, "riscv64": 0xc00000f3, "none": 0,
	}
	for _, o := range every() {
		m := newMachine(t, o)
		for name, audit := range audits {
			got := m.on(audit, 0)
			if native := name == o.Arch; native != (got != killed) {
				t.Errorf("%+v: read of %s: %d", o, name, got)
			}
		}
	}
}

// No file is given a mode by which it runs as its owner or group; every other
// mode is open, and so is a call that makes nothing.
func TestSetIDs(t *testing.T) {
	const create, tmpfile = 0x40, 0x400000
	for _, o := range every() {
		a, _ := o.arch()
		m := newMachine(t, o)
		for _, row := range []struct {
			call string
			args [4]uint64
			want answer
		}{
			{"chmod", [4]uint64{0, 0o755}, allow}, {"chmod", [4]uint64{0, 0o1777}, allow},
			{"chmod", [4]uint64{0, 0o4755}, eperm}, {"chmod", [4]uint64{0, 0o2755}, eperm},
			{"fchmod", [4]uint64{0, 0o644}, allow}, {"fchmod", [4]uint64{0, 0o6755}, eperm},
			{"fchmodat", [4]uint64{0, 0, 0o644}, allow}, {"fchmodat", [4]uint64{0, 0, 0o4000}, eperm},
			{"fchmodat2", [4]uint64{0, 0, 0o644}, allow}, {"fchmodat2", [4]uint64{0, 0, 0o2000}, eperm},
			{"creat", [4]uint64{0, 0o644}, allow}, {"creat", [4]uint64{0, 0o4755}, eperm},
			{"mknod", [4]uint64{0, 0o10644}, allow}, {"mknod", [4]uint64{0, 0o104755}, eperm},
			{"mknodat", [4]uint64{0, 0, 0o10644}, allow}, {"mknodat", [4]uint64{0, 0, 0o104755}, eperm},
			{"open", [4]uint64{0, create, 0o644}, allow}, {"open", [4]uint64{0, create, 0o4755}, eperm},
			{"open", [4]uint64{0, 0, 0o4755}, allow},
			{"openat", [4]uint64{0, 0, create, 0o644}, allow}, {"openat", [4]uint64{0, 0, create, 0o4755}, eperm},
			{"openat", [4]uint64{0, 0, tmpfile, 0o2755}, eperm}, {"openat", [4]uint64{0, 0, 0, 0o6777}, allow},
		} {
			i := slices.IndexFunc(a.calls, func(c call) bool { return c.name == row.call })
			if i < 0 {
				continue // arm64 has the newer ones alone
			}
			if got := m.ask(a.calls[i].nr, row.args[:]...); got != row.want {
				t.Errorf("%+v: %s %#o: %d, want %d", o, row.call, row.args, got, row.want)
			}
		}
	}
}

// A file stays its owner's, who may say so; what the kernel would call an
// invalid id is refused as outside.
func TestOwners(t *testing.T) {
	const keep, high = 0xffffffff, 0xdeadbeef << 32
	for _, arch := range []string{"amd64", "arm64"} {
		m := newMachine(t, Options{Arch: arch, UID: 1000, GID: 1001})
		for call, before := range map[string]int{"chown": 1, "fchown": 1, "lchown": 1, "fchownat": 2} {
			nr, ok := number(t, arch, call)
			if !ok {
				continue // arm64 has the newer ones alone
			}
			for _, row := range []struct {
				uid, gid uint64
				want     answer
			}{
				{keep, keep, allow}, {1000, keep, allow}, {keep, 1001, allow}, {1000, 1001, allow}, {high | 1000, high | 1001, allow},
				{0, keep, eperm}, {0, 1001, eperm}, {keep, 0, eperm}, {1000, 1000, eperm}, {1001, 1001, eperm}, {high, high, eperm},
			} {
				args := append(make([]uint64, before), row.uid, row.gid)
				if got := m.ask(nr, args...); got != row.want {
					t.Errorf("%s %s to %#x:%#x: %d, want %d", arch, call, row.uid, row.gid, got, row.want)
				}
			}
		}
	}
}

func TestArguments(t *testing.T) {
	const any = ^uint64(0)
	for _, row := range []struct {
		call  string
		trace bool
		args  [3]uint64
		want  answer
	}{
		// How libc and Go start threads and processes, and vfork.
		{"clone", false, [3]uint64{0x3d0f00}, allow},
		{"clone", false, [3]uint64{0x50f00}, allow},
		{"clone", false, [3]uint64{0x01200011}, allow},
		{"clone", false, [3]uint64{0x4111}, allow},
		{"clone", false, [3]uint64{0x80}, allow}, // a signal there, not NEWTIME
		{"clone", false, [3]uint64{0x00020011}, eperm},
		{"clone", false, [3]uint64{0x02000011}, eperm},
		{"clone", false, [3]uint64{0x04000011}, eperm},
		{"clone", false, [3]uint64{0x08000011}, eperm},
		{"clone", false, [3]uint64{0x10000011}, eperm},
		{"clone", false, [3]uint64{0x20000011}, eperm},
		{"clone", false, [3]uint64{0x40000011}, eperm},
		{"unshare", false, [3]uint64{0x600}, allow}, // FS|FILES
		{"unshare", false, [3]uint64{0x80}, eperm},
		{"unshare", false, [3]uint64{0x00020000}, eperm},
		{"unshare", false, [3]uint64{0x02000000}, eperm},
		{"unshare", false, [3]uint64{0x04000000}, eperm},
		{"unshare", false, [3]uint64{0x08000000}, eperm},
		{"unshare", false, [3]uint64{0x10000000}, eperm},
		{"unshare", false, [3]uint64{0x20000000}, eperm},
		{"unshare", false, [3]uint64{0x40000000}, eperm},

		{"ioctl", false, [3]uint64{0, 0x5401}, allow}, // TCGETS
		{"ioctl", false, [3]uint64{0, 0x5413}, allow}, // TIOCGWINSZ
		{"ioctl", false, [3]uint64{0, 0x5410}, allow}, // TIOCSPGRP
		{"ioctl", false, [3]uint64{0, 0x5412}, eperm},
		{"ioctl", false, [3]uint64{0, 0x541c}, eperm},
		{"ioctl", false, [3]uint64{0, 0x5423}, eperm},
		{"ioctl", false, [3]uint64{3, 0x50009401}, eperm}, // snapshots of btrfs, and of bcachefs
		{"ioctl", false, [3]uint64{3, 0x50009417}, eperm},
		{"ioctl", false, [3]uint64{3, 0x4020bc10}, eperm},
		{"ioctl", false, [3]uint64{3, 0x5000940e}, allow}, // a subvolume that is empty
		{"ioctl", false, [3]uint64{3, 0x40049409}, allow}, // FICLONE

		{"fcntl", false, [3]uint64{0, 4, 0x800}, allow}, // F_SETFL
		{"fcntl", false, [3]uint64{3, 1030, 3}, allow},  // F_DUPFD_CLOEXEC
		{"fcntl", false, [3]uint64{3, 1024, 1}, eperm},
		{"fcntl", false, [3]uint64{3, 1040, 0}, eperm},
		{"setpriority", false, [3]uint64{0, 0, 5}, allow},
		{"setpriority", false, [3]uint64{1, 7, 5}, allow},
		{"setpriority", false, [3]uint64{1, 0, 5}, eperm},
		{"ioprio_set", false, [3]uint64{1, 0, 5}, allow},
		{"ioprio_set", false, [3]uint64{2, 7, 5}, allow},
		{"ioprio_set", false, [3]uint64{2, 0, 5}, eperm},

		{"personality", false, [3]uint64{0}, allow},
		{"personality", false, [3]uint64{0xffffffff}, allow},
		{"personality", false, [3]uint64{0x0040000}, eperm},
		{"personality", true, [3]uint64{0x0040000}, allow},
		{"personality", true, [3]uint64{0x0100000}, eperm}, // MMAP_PAGE_ZERO
		{"personality", true, [3]uint64{0x0440000}, eperm}, // and READ_IMPLIES_EXEC
		{"personality", false, [3]uint64{8}, eperm},

		{"ptrace", true, [3]uint64{0, 0}, allow}, // TRACEME
		{"ptrace", true, [3]uint64{16, 7}, allow},
		{"ptrace", true, [3]uint64{16, 1}, eperm},
		{"ptrace", false, [3]uint64{16, 7}, eperm},
		{"process_vm_readv", true, [3]uint64{7}, allow},
		{"process_vm_readv", true, [3]uint64{1}, eperm},
		{"process_vm_writev", true, [3]uint64{7}, allow},
		{"process_vm_writev", true, [3]uint64{1}, eperm},
		{"process_vm_readv", false, [3]uint64{7}, eperm},
		{"process_vm_writev", false, [3]uint64{7}, eperm},

		{"socket", false, [3]uint64{1, 1}, allow},
		{"socket", false, [3]uint64{1, 0x80802}, allow}, // with CLOEXEC and NONBLOCK
		{"socket", false, [3]uint64{1, 5}, allow},
		{"socket", false, [3]uint64{2, 1}, allow},
		{"socket", false, [3]uint64{2, 0x80801, 6}, allow},
		{"socket", false, [3]uint64{10, 0x80802, 17}, allow},
		{"socket", false, [3]uint64{2, 2, 1}, allow},   // ping
		{"socket", false, [3]uint64{10, 2, 58}, allow}, // ping
		{"socket", false, [3]uint64{2, 3, 1}, eperm},
		{"socket", false, [3]uint64{2, 0x80803, 255}, eperm},
		{"socket", false, [3]uint64{10, 3, 58}, eperm},
		{"socket", false, [3]uint64{2, 10, 3}, eperm},                  // AF_PACKET's old name
		{"socket", false, [3]uint64{2, 5}, esocktnosupport},            // SCTP
		{"socket", false, [3]uint64{2, 6}, esocktnosupport},            // DCCP
		{"socket", false, [3]uint64{2, 1, 132}, eprotonosupport},       // SCTP
		{"socket", false, [3]uint64{2, 0x80801, 262}, eprotonosupport}, // MPTCP, which Go does without
		{"socket", false, [3]uint64{2, 1, 256}, eprotonosupport},       // SMC
		{"socket", false, [3]uint64{10, 2, 136}, eprotonosupport},      // UDP-Lite
		{"socket", false, [3]uint64{2, 2, 115}, eprotonosupport},       // L2TP
		{"socket", false, [3]uint64{16, 3, 0}, allow},                  // ROUTE: getifaddrs
		{"socket", false, [3]uint64{16, 0x80003, 4}, allow},            // SOCK_DIAG: ss
		{"socket", false, [3]uint64{16, 2, 15}, allow},                 // KOBJECT_UEVENT: libudev
		{"socket", false, [3]uint64{16, 3, 12}, eprotonosupport},       // NETFILTER
		{"socket", false, [3]uint64{16, 3, 16}, eprotonosupport},       // GENERIC
		{"socket", false, [3]uint64{16, 3, 6}, eprotonosupport},        // XFRM
		{"socket", false, [3]uint64{16, 3, 9}, eprotonosupport},        // AUDIT
		{"socket", false, [3]uint64{16, 3, 21}, eprotonosupport},       // CRYPTO
		{"socket", false, [3]uint64{any, any, any}, eafnosupport},
		{"socketpair", false, [3]uint64{1, 1}, allow},
		{"socketpair", false, [3]uint64{1, 0x80805}, allow},
		{"socketpair", false, [3]uint64{30, 1}, eafnosupport}, // TIPC has pairs too
		{"socketpair", false, [3]uint64{2, 1}, eafnosupport},
	} {
		for _, arch := range []string{"amd64", "arm64"} {
			nr, ok := number(t, arch, row.call)
			if !ok {
				t.Fatalf("%s has no %s", arch, row.call)
			}
			m := newMachine(t, Options{Arch: arch, Trace: row.trace})
			if got := m.ask(nr, row.args[:]...); got != row.want {
				t.Errorf("%s %s(%#x) trace=%v: %d, want %d", arch, row.call, row.args, row.trace, got, row.want)
			}
			// The kernel looks at no more than 32 bits of any of these.
			high := row.args
			for i := range high {
				high[i] |= 0xdeadbeef << 32
			}
			if got := m.ask(nr, high[:]...); got != row.want {
				t.Errorf("%s %s(%#x) trace=%v, high bits set: %d, want %d", arch, row.call, high, row.trace, got, row.want)
			}
		}
	}
}

// The group that a program was started in is out of reach where that is asked
// for; its own processes and groups are not.
func TestGroupSignal(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		nr, _ := number(t, arch, "kill")
		for group, refused := range map[uint64]answer{0: eperm, 1: allow, 7: allow, 0xffffffff: allow, 0xfffffff9: allow, 0xdeadbeef << 32: eperm} {
			open, shut := newMachine(t, Options{Arch: arch}), newMachine(t, Options{Arch: arch, NoGroupSignal: true})
			if got := open.ask(nr, group, 9); got != allow {
				t.Errorf("%s kill(%#x): %d", arch, group, got)
			}
			if got := shut.ask(nr, group, 9); got != refused {
				t.Errorf("%s kill(%#x) with NoGroupSignal: %d, want %d", arch, group, got, refused)
			}
		}
	}
}

// Of the families that Linux has, four are open.
func TestFamilies(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		nr, _ := number(t, arch, "socket")
		m := newMachine(t, Options{Arch: arch})
		var open []uint64
		for family := uint64(0); family < 256; family++ {
			if m.ask(nr, family, 1, 0) == allow {
				open = append(open, family)
			}
		}
		if diff := cmp.Diff([]uint64{1, 2, 10, 16}, open); diff != "" {
			t.Errorf("%s: %s", arch, diff)
		}
	}
}

func TestText(t *testing.T) {
	for name, o := range map[string]Options{
		"amd64":               {Arch: "amd64"},
		"arm64":               {Arch: "arm64"},
		"amd64-trace-nomemfd": {Arch: "amd64", Trace: true, NoMemfd: true},
		"arm64-nogroupsignal": {Arch: "arm64", NoGroupSignal: true},
	} {
		got := text(t, o)
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", file, diff)
		}
	}
}

func TestUnsupportedArchitecture(t *testing.T) {
	if _, err := Program(Options{Arch: "riscv64"}); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "riscv64") {
		t.Errorf("%v", err)
	}
}

// Tables are in order and name nothing twice, or a segment would be lost.
func TestTables(t *testing.T) {
	for _, name := range []string{"amd64", "arm64"} {
		a, _ := Options{Arch: name}.arch()
		seen := map[string]bool{}
		for i, c := range a.calls {
			if i > 0 && c.nr <= a.calls[i-1].nr {
				t.Errorf("%s: %s (%d) out of order", name, c.name, c.nr)
			}
			if seen[c.name] {
				t.Errorf("%s: %s twice", name, c.name)
			}
			seen[c.name] = true
		}
	}
}

func BenchmarkProgram(b *testing.B) {
	for b.Loop() {
		if _, err := Program(Options{Arch: "amd64"}); err != nil {
			b.Fatal(err)
		}
	}
}
