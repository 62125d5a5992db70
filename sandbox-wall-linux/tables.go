package linuxwall

import (
	"slices"
	"strconv"
	"strings"
)

// Readers of the tables that the kernel and the system keep as text.

// socketPaths gives the absolute paths that a table as /proc/net/unix names
// (proc_pid_net(5)): "Num: RefCount Protocol Flags Type St Inode Path", the
// path to the end of the line. Abstract names start with '@'. What a path
// says about which namespace or root it was bound in is not known, so each
// only counts where a socket is found.
func socketPaths(table string) []string {
	var paths []string
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		i := strings.Index(line, " /")
		if i < 0 {
			continue
		}
		paths = append(paths, line[i+1:])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// mounts reads a table as /proc/self/mountinfo (proc_pid_mountinfo(5)):
// "id parent major:minor root point options…", with octal escapes.
func mounts(table string) []Mount {
	var all []Mount
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 6 {
			continue
		}
		all = append(all, Mount{Dev: f[2], Root: unescape(f[3]), Point: unescape(f[4])})
	}
	return all
}

// unescape undoes the octal escapes of space, tab, newline and backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// passwdHome gives the home folder of a user in a text as /etc/passwd
// (passwd(5)), or "".
func passwdHome(passwd string, uid int) string {
	want := strconv.Itoa(uid)
	for line := range strings.Lines(passwd) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(f) >= 7 && f[2] == want {
			return f[5]
		}
	}
	return ""
}

// routedDevices gives the devices that routes of the tables /proc/net/route
// (first column, below a heading) and /proc/net/ipv6_route (last column) lead
// to. The kernel's own entries that refuse or that stand for multicast also
// name a device, and count: a namespace that holds only loopback has none.
func routedDevices(route, route6 string) []string {
	var names []string
	first := true
	for line := range strings.Lines(route) {
		if f := strings.Fields(line); len(f) > 0 && !first {
			names = append(names, f[0])
		}
		first = false
	}
	for line := range strings.Lines(route6) {
		if f := strings.Fields(line); len(f) > 0 {
			names = append(names, f[len(f)-1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
