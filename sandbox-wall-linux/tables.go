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
