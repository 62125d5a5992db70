package linuxwall

import "testing"

// twice is a machine whose homes are mounted a second time.
func twice() *machine {
	return made(debian + "/home/u/private/key\n/mnt/homes/u/\n").
		add("/proc/self/mountinfo: 2 1 8:2 / /home rw - ext4 /dev/sda2 rw\n/proc/self/mountinfo: 3 1 8:2 / /mnt/homes rw - ext4 /dev/sda2 rw\n")
}

// What is closed is closed by every name that a mount gives it.
func TestAliases(t *testing.T) {
	const settings, private = "/mnt/homes/u/.lnk", "/mnt/homes/u/private"
	for _, c := range []struct {
		name string
		on   *machine
		want map[string]Verb
	}{
		{"the same", twice().same(settings, "/home/u/.lnk").same(private, "/home/u/private"), map[string]Verb{settings: Close, private: Close}},
		// Covered by another mount, a path is not what the table says it is.
		{"others there", twice().add(settings + "/\n" + private + "/\n"), map[string]Verb{settings: 0, private: 0}},
		{"by a link", twice().same("/srv/lnk", "/home/u/.lnk").add(settings + " -> /srv/lnk\n"), map[string]Verb{settings: 0}},
		{"another file system", made(debian+"/home/u/private/\n/mnt/homes/u/\n").
			add("/proc/self/mountinfo: 3 1 8:2 /home /mnt/homes rw - ext4 /dev/sda2 rw\n").
			same(settings, "/home/u/.lnk"), map[string]Verb{settings: 0}},
		{"a folder of it bound", made(debian+"/home/u/private/\n/mnt/homes/u/\n").
			add("/proc/self/mountinfo: 3 1 8:1 /home /mnt/homes rw - ext4 /dev/sda1 rw\n").
			same(settings, "/home/u/.lnk").same(private, "/home/u/private"), map[string]Verb{settings: Close, private: Close}},
		// Settings that are yet to be made show there as soon as they are.
		{"to be made", twice().remove("/home/u/.lnk").same("/mnt/homes/u", "/home/u"), map[string]Verb{settings: Close}},
		{"to be made in another folder", twice().remove("/home/u/.lnk"), map[string]Verb{settings: 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.on.mustPlan(t, working(func(c *confinement) {
				c.Read, c.Hide = []string{"/mnt/homes"}, []string{"/home/u/private"}
			}))
			for at, want := range c.want {
				if got := verbAt(p, at); got != want {
					t.Errorf("%s: %s, want %s\n%s", at, verbName(got), verbName(want), p.Explain())
				}
			}
		})
	}
}

func TestRebase(t *testing.T) {
	for _, c := range []struct{ path, from, to, want string }{
		{"/a/b", "/a", "/x", "/x/b"},
		{"/a", "/a", "/x", "/x"},
		{"/a/b", "/", "/x", "/x/a/b"},
		{"/a/b", "/a", "/", "/b"},
		{"/a", "/a", "/", "/"},
		{"/a/b", "/", "/", "/a/b"},
		{"/", "/", "/x", "/x"},
	} {
		if got := rebase(c.path, c.from, c.to); got != c.want {
			t.Errorf("%s from %s to %s is %s, want %s", c.path, c.from, c.to, got, c.want)
		}
	}
}

// What is hidden below a file cannot come to be while that stays one.
func TestHideBelowFile(t *testing.T) {
	m := made(debian + "/home/u/work/a/file\n/home/u/notes/file\n")
	p := m.mustPlan(t, working(func(c *confinement) {
		c.Read = []string{"/home/u/notes"}
		c.Hide = []string{"/home/u/work/a/file/later", "/home/u/notes/file/later"}
	}))
	for at, want := range map[string]Verb{
		"/home/u/work/a": Pin, "/home/u/work/a/file": Pin, "/home/u/work/a/file/later": 0,
		"/home/u/notes/file": 0, "/home/u/notes/file/later": 0,
	} {
		if got := verbAt(p, at); got != want {
			t.Errorf("%s: %s, want %s", at, verbName(got), verbName(want))
		}
	}
}
