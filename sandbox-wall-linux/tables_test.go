package linuxwall

import (
	"fmt"
	"slices"
	"testing"
)

func TestSocketPaths(t *testing.T) {
	const table = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 24312 /run/user/1000/bus
0000000000000000: 00000003 00000000 00000000 0001 03 24313 /run/user/1000/bus
0000000000000000: 00000002 00000000 00010000 0001 01 24314 @/tmp/.X11-unix/X0
0000000000000000: 00000002 00000000 00010000 0001 01 24315 @
0000000000000000: 00000003 00000000 00000000 0001 03 24316
0000000000000000: 00000002 00000000 00010000 0001 01 24317 relative/app.sock
0000000000000000: 00000002 00000000 00010000 0002 01 24318 /srv/a name with  spaces
`
	want := []string{"/run/user/1000/bus", "/srv/a name with  spaces"}
	if got := socketPaths(table); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPasswdHome(t *testing.T) {
	const passwd = "root:x:0:0:root:/root:/bin/bash\nshort:x:7\n+nis\nu:x:1000:1000:A U,,,:/home/u:/bin/sh\nv:x:1000:1000::/home/v:/bin/sh\nlast:x:9:9::/last:/bin/sh"
	for uid, want := range map[int]string{0: "/root", 1000: "/home/u", 7: "", 42: "", 9: "/last"} {
		if got := passwdHome(passwd, uid); got != want {
			t.Errorf("user %d: %q, want %q", uid, got, want)
		}
	}
}

func TestRoutedDevices(t *testing.T) {
	const (
		route  = "Iface\tDestination\tGateway\nlo\t00000000\t0\neth0\t00000000\t010200C0\neth0\t000200C0\t0\n"
		route6 = "00000000000000000000000000000000 00 0 00 0 ffffffff 1 0 00200200       lo\nfe80 40 0 00 0 100 1 0 1 wlan0\n"
	)
	for _, c := range []struct {
		route, route6 string
		want          []string
	}{
		{route, route6, []string{"eth0", "lo", "wlan0"}},
		{"Iface\tDestination\n", "", nil},
		{"", "", nil},
	} {
		if got := routedDevices(c.route, c.route6); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	m := made(`
/a/b/file
/a/link -> b
/a/abs -> /c
/c/up -> ../a/link/file
/c/slash -> /a/b/
/c/dot -> ./../c/./up
/c/dangling -> none/deeper
/c/root -> /
/loop/1 -> 2
/loop/2 -> 1
/locked/in ?
/c/tofile -> /a/b/file/x
`)
	for i := range 45 {
		m.add(fmt.Sprintf("/chain/%d -> %d\n", i, i+1))
	}
	m.add("/chain/45\n")
	for _, c := range []struct {
		path, real, missing string
		kind                Kind
		links               []string
	}{
		{"/", "/", "", Folder, nil},
		{"/a/b/file", "/a/b/file", "", File, nil},
		{"/a/link/file", "/a/b/file", "", File, []string{"/a/link"}},
		{"/a/abs/up", "/a/b/file", "", File, []string{"/a/abs", "/c/up", "/a/link"}},
		{"/c/slash/file", "/a/b/file", "", File, []string{"/c/slash"}},
		{"/c/dot", "/a/b/file", "", File, []string{"/c/dot", "/c/up", "/a/link"}},
		{"/c/root/a", "/a", "", Folder, []string{"/c/root"}},
		{"/none", "/none", "/none", Missing, nil},
		{"/none/deeper", "/none/deeper", "/none", Missing, nil},
		{"/c/dangling/x", "/c/none/deeper/x", "/c/none", Missing, []string{"/c/dangling"}},
		{"/a/b/file/x", "/a/b/file/x", "/a/b/file/x", Missing, nil},
		{"/c/tofile", "/a/b/file/x", "/a/b/file/x", Missing, []string{"/c/tofile"}},
		{"/locked/in", "/locked/in", "", Unseen, nil},
		{"/locked/in/x/y", "/locked/in/x/y", "", Unseen, nil},
	} {
		f := Facts{Nodes: map[string]Node{}}
		got := (&tree{facts: &f, sys: m.system()}).resolve(c.path)
		if got.real != c.real || got.missing != c.missing || got.node.Kind != c.kind || !slices.Equal(got.links, c.links) {
			t.Errorf("%s: %s, missing %q, %s, by %q; want %s, %q, %s, %q",
				c.path, got.real, got.missing, got.node.Kind, got.links, c.real, c.missing, c.kind, c.links)
		}
		// What was written down is enough to find it again.
		again := tree{facts: &f}
		if r := again.resolve(c.path); r.real != got.real || r.node != got.node || again.lacks != nil {
			t.Errorf("%s from the facts: %s, %v", c.path, r.real, again.lacks)
		}
		// What is known of the folders on the way by then changes nothing.
		more := &tree{facts: &f, sys: m.system()}
		for _, folder := range []string{parent(c.path), c.real} {
			more.resolve(folder)
		}
		if r := more.resolve(c.path); r.real != got.real || r.node != got.node || r.missing != got.missing || !slices.Equal(r.links, got.links) || !slices.Equal(r.left, got.left) {
			t.Errorf("%s again: %+v, want %+v", c.path, r, got)
		}
	}
	f := Facts{Nodes: map[string]Node{}}
	live := &tree{facts: &f, sys: m.system()}
	// The kernel follows 40 links and no more (path_resolution(7)).
	for path, want := range map[string]Kind{"/loop/1/x": Tangled, "/chain/5": File, "/chain/4": Tangled} {
		if got := live.resolve(path); got.node.Kind != want {
			t.Errorf("%s is %s, want %s", path, got.node.Kind, want)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		path, dir     string
		below, within bool
	}{
		{"/a/b", "/a", true, true},
		{"/a", "/a", false, true},
		{"/ab", "/a", false, false},
		{"/a", "/a/b", false, false},
		{"/a", "/", true, true},
		{"/", "/", false, true},
	} {
		if below(c.path, c.dir) != c.below || within(c.path, c.dir) != c.within {
			t.Errorf("%s in %s: %v, %v", c.path, c.dir, below(c.path, c.dir), within(c.path, c.dir))
		}
	}
	paths := []string{"/", "/a", "/a/b", "/a/b/c", "/a/b-c", "/a/b.c", "/a-b", "/a-b/c", "/a.b", "/b"}
	shuffled := slices.Clone(paths)
	slices.Reverse(shuffled)
	slices.SortFunc(shuffled, comparePaths)
	if !slices.Equal(shuffled, paths) {
		t.Errorf("sorted: %q", shuffled)
	}
}
