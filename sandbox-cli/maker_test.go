package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oldKernel has what follows it run on a kernel without mount_setattr(2), whose
// number is the same everywhere: the call does not exist (ENOSYS).
const oldKernel = `python3 -Sc '
import ctypes, os, struct, sys
rule = lambda code, yes, no, k: struct.pack("HBBI", code, yes, no, k)
rules = ctypes.create_string_buffer(rule(0x20, 0, 0, 0) + rule(0x15, 0, 1, 442) + rule(0x06, 0, 0, 0x00050026) + rule(0x06, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(rules)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0): sys.exit("no filter: %d" % ctypes.get_errno())
os.execvp(sys.argv[1], sys.argv[1:])' `

// seen tells what a program has of its sandbox, in lines: its mounts, its
// devices, what it is and may do. What differs from run to run is left out.
const seen = `
sed -E 's/^[0-9]+ [0-9]+ [^ ]+ [^ ]+ ([^ ]+) ([^ ]+) .*- ([^ ]+) .*/mount \1 \2 \3/' /proc/self/mountinfo | sed 's/,relatime//' | sort
find / /dev /run /tmp /var "$HOME" -maxdepth 1 ! -name '.*' ! -type d -printf 'file %M %p %l\n' 2>/dev/null | sort -u
ls -ld /tmp /dev/shm /var/tmp | cut -c1-10
grep -E '^(Cap|NoNewPrivs|Seccomp:|Sig(Blk|Ign)|Umask)' /proc/self/status
ls -A /proc/1
cat /proc/sys/kernel/hostname /proc/self/uid_map /proc/self/gid_map
env | sort
ulimit -a
id
ps -o pid=,ppid=,sid=,pgid=,args= -p 2
ls -l /proc/self/fd | grep -c .
unshare -U true 2>&1
ip link 2>/dev/null | grep -c UP
cat /etc/hosts
`

// Bubblewrap makes the same sandbox as the kernel's own calls do.
func TestMakersAgree(t *testing.T) {
	s := newSandbox(t)
	s.put("hidden/file", "x")
	s.put(".git/config", "[core]\n")
	s.put("sub/read", "x")
	for name, flags := range map[string][]string{
		"a closed one":  {"--write", ".", "--hide", s.project + "/hidden", "--read", s.project + "/sub"},
		"a proxied one": {"--write", ".", allow},
		"some commands": {"--write", ".", "--only", "/usr/bin/"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sandbox{t: t, root: s.root, home: s.home, project: s.project}
			argv := []string{"--", "bash", "-c", "umask 027; " + seen}
			kernel := s.must(append(append([]string{}, flags...), argv...)...)
			bubblewrap := s.must(append(append([]string{"--bubblewrap"}, flags...), argv...)...)
			theirs, mounted := parted(bubblewrap)
			ours, mounts := parted(kernel)
			for i := range max(len(theirs), len(ours)) {
				if i >= len(theirs) || i >= len(ours) || theirs[i] != ours[i] {
					t.Errorf("by bubblewrap:\n%sby the kernel:\n%s", theirs[i:], ours[i:])
					break
				}
			}
			asOthers := false // see of /etc, and no file of root's is covered there
			for place, flags := range mounts {
				asOthers = asOthers || strings.HasPrefix(place, "/etc ") && strings.Contains(flags, "idmapped")
			}
			for place, flags := range mounted {
				if _, there := mounts[place]; !there && asOthers && strings.HasPrefix(place, "/etc/") {
					continue
				}
				if os.Getuid() != 0 && strings.HasPrefix(place, "/dev/") && strings.HasSuffix(place, " devtmpfs") {
					flags = strings.Replace(flags, "rw", "ro", 1) // they are not the user's, and bubblewrap cannot
				}
				for _, flag := range strings.Split(flags, ",") {
					if !slices.Contains(strings.Split(mounts[place], ","), flag) && !strings.HasPrefix(place, "/proc/") && !strings.HasPrefix(place, "/usr/bin/bwrap") {
						t.Errorf("%s: %s by bubblewrap, %s by the kernel", place, flags, mounts[place])
					}
				}
			}
			if len(mounts) < 20 || !strings.Contains(kernel, "NoNewPrivs:\t1") {
				t.Errorf("it told nothing: %s", kernel)
			}
		})
	}
}

// parted gives the lines that are no mounts, and of each mount, by its place
// and kind, the flags.
func parted(text string) (lines []string, mounts map[string]string) {
	mounts = map[string]string{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 4 && f[0] == "mount" {
			mounts[f[1]+" "+f[3]] = f[2]
			continue
		}
		lines = append(lines, line)
	}
	return lines, mounts
}

// Devices of this machine cannot be changed, by their names or by a stream: not to
// the modes that they have either, so that nothing is changed where they can.
func TestDevicesStayAsTheyAre(t *testing.T) {
	s := newSandbox(t)
	const rechmod = `import os, stat
def same(at):
  try: os.chmod(at, stat.S_IMODE(os.stat(at).st_mode)); return 'changed'
  except PermissionError: return 'kept'
  except OSError as e: return {30: 'kept'}.get(e.errno, str(e))
print(*[same(at) for at in (0, *('/dev/' + n for n in 'null zero full random urandom tty'.split()))])
open('/dev/null', 'w').write('x'); open('/dev/zero').read(1)`
	s.put("rechmod.py", rechmod)
	for _, flags := range []string{"", "--bubblewrap", "--bubblewrap " + allow} {
		e := s.command("", []string{"sh", "-c", lnk() + " sandbox run --yes --write . " + flags + " -- python3 -S rechmod.py </dev/null"})
		if want := "kept kept kept kept kept kept kept\n"; e.out != want {
			t.Errorf("%q: %q, want %q: %s", flags, e.out, want, e.errors)
		}
	}
}

// A machine that has no bubblewrap needs none, and one whose kernel is too old
// has bubblewrap make the sandbox.
func TestEitherMaker(t *testing.T) {
	s := newSandbox(t)
	request, err := json.Marshal(map[string]any{"confinement": s.confinement("closed"), "argv": []string{"touch", s.project + "/made"}})
	if err != nil {
		t.Fatal(err)
	}
	made := s.command(string(request), []string{lnk(), "sandbox", "wrap"})
	var w struct{ Argv []string }
	if err := json.Unmarshal([]byte(made.out), &w); err != nil {
		t.Fatalf("%q: %v", made.out, err)
	}
	without := "bwrap --dev-bind / / --tmpfs /usr/bin --ro-bind /usr/bin/touch /usr/bin/touch --ro-bind /usr/bin/true /usr/bin/true --ro-bind /usr/bin/dash /usr/bin/sh -- "
	for name, line := range map[string]string{
		"run without bubblewrap":            without + lnk() + " sandbox run --yes --write . -- touch made",
		"wrap's command without bubblewrap": without + strings.Join(w.Argv, " "),
		"ready without bubblewrap":          without + lnk() + " sandbox ready && touch made",
		"run on an old kernel":              oldKernel + lnk() + " sandbox run --yes --write . -- touch made",
		"run with a proxy on an old kernel": oldKernel + lnk() + " sandbox run --yes --write . " + allow + " -- touch made",
		"wrap's command on an old kernel":   oldKernel + strings.Join(w.Argv, " "),
		"ready on an old kernel":            oldKernel + lnk() + " sandbox ready && touch made",
	} {
		e := s.command("", []string{"sh", "-c", line})
		if e.status != 0 || e.errors != "" {
			t.Errorf("%s: status %d: %s%s", name, e.status, e.out, e.errors)
		}
		if err := os.Remove(filepath.Join(s.project, "made")); err != nil {
			t.Errorf("%s: the program did not run: %v", name, err)
		}
	}
}

// In a container whose engine covers parts of /proc, all who find that no sandbox
// can be made say the engine's option that helps.
func TestProcCovered(t *testing.T) {
	s := newSandbox(t)
	const in, without = "bwrap --dev-bind / / --ro-bind /proc/sys /proc/sys ", "--tmpfs /usr/bin --ro-bind /usr/bin/true /usr/bin/true "
	const option = "start the container with --security-opt systempaths=unconfined (podman: unmask=ALL)"
	for line, status := range map[string]int{
		in + "-- " + lnk() + " sandbox ready":                                 1,
		in + "-- " + lnk() + " sandbox run --yes " + allow + " -- true":       125,
		in + without + "-- " + lnk() + " sandbox ready":                       1,
		in + without + "-- " + lnk() + " sandbox run --yes --write . -- true": 125,
	} {
		e := s.command("", []string{"sh", "-c", line})
		if e.status != status || !strings.Contains(e.errors, option) {
			t.Errorf("%s: status %d, errors %q", line, e.status, e.errors)
		}
	}
}

// What is said at a start is said once where bubblewrap takes over, and where the
// network is made anew for it.
func TestWarnsOnce(t *testing.T) {
	s := newSandbox(t)
	want := "lnk sandbox run: hide " + s.project + ": write names it too, so it is open\n"
	for name, c := range map[string]struct{ before, flags, program, errors string }{
		"on this kernel":                {"", "", "touch made", want},
		"on an old kernel":              {oldKernel, "", "touch made", want},
		"with a proxy":                  {"", allow, "touch made", want},
		"with a proxy on an old kernel": {oldKernel, allow, "touch made", want},
		"with a proxy and no program":   {"", allow, "none || touch made", want + "lnk sandbox run: none: not found inside the sandbox\n"},
	} {
		e := s.command("", []string{"sh", "-c", c.before + lnk() + " sandbox run --yes --write . --hide . " + c.flags + " -- " + c.program})
		if e.status != 0 || e.errors != c.errors {
			t.Errorf("%s: status %d, errors %q, want %q", name, e.status, e.errors, c.errors)
		}
		if err := os.Remove(filepath.Join(s.project, "made")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
