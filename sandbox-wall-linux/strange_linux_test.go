package linuxwall

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// oddNames are names that a shell, a table of mounts or an option would take for
// something else.
var oddNames = []string{"a b", `q"u'o`, `back\slash`, "tab\there", "é", "-rf", "$(x)`y`", "#;|&*?[", "\\040", "..."}

// Files and folders of any name are opened and closed as those of plain names.
func TestRealStrangeNames(t *testing.T) {
	s := newStage(t)
	c := s.confinement()
	var script strings.Builder
	quoted := func(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
	for _, name := range oddNames {
		w, r := s.mkdir("home/"+name+"/w"), s.mkdir("home/"+name+"/r")
		s.write("home/"+name+"/r/f", "read")
		s.write("home/"+name+"/w/hid/f", "secret")
		s.write("home/"+name+"/w/open/f", "one file")
		s.write("home/"+name+"/w/sub/.git/config", "")
		hidden := w + "/hid"
		c.Write = append(c.Write, w)
		c.Read = append(c.Read, r, w+"/open/f")
		c.Hide = append(c.Hide, hidden, w+"/later", w+"/open")
		script.WriteString("cd " + quoted(w) + " && echo x >new && cat ../r/f open/f && " +
			"! { cat hid/f || mv hid h || mkdir later || echo x >later || echo x >>open/f || echo x >../r/f || echo x >sub/.git/config || mv sub s || mkdir .git; } 2>/dev/null && echo ' ok'\n")
	}
	// Only UTF-8 can be named; what is found below need not be.
	s.write("home/work/\xff/sub/.git/config", "")
	script.WriteString("cd " + s.work + "/* && ! { echo x >sub/.git/config || mv sub s || mv ../* ../t; } 2>/dev/null && echo x >new && echo below\n")
	got := s.run(c, script.String())
	if want := strings.TrimSpace(strings.Repeat("readone file ok\n", len(oddNames)) + "below"); got.out != want {
		t.Errorf("%+v", got)
	}
	for _, name := range oddNames {
		if b, err := os.ReadFile(s.home + "/" + name + "/w/new"); err != nil || string(b) != "x\n" {
			t.Errorf("%q: %q, %v", name, b, err)
		}
		if _, err := os.Lstat(s.home + "/" + name + "/w/.git"); err == nil {
			t.Errorf("%q: a placeholder was left", name)
		}
	}
}

// Members nest in any order, for files and for folders: the deepest decides.
func TestRealNestedOrders(t *testing.T) {
	members := map[string]func(*client.Confinement, string){
		"w": func(c *client.Confinement, at string) { c.Write = append(c.Write, at) },
		"r": func(c *client.Confinement, at string) { c.Read = append(c.Read, at) },
		"h": func(c *client.Confinement, at string) { c.Hide = append(c.Hide, at) },
	}
	for _, order := range []string{"whw", "wrw", "hwh", "rwr", "hrw", "rwh"} {
		for _, last := range []string{"folder", "file"} {
			s := newStage(t)
			c := s.confinement()
			c.Write = nil
			at := s.home + "/top"
			for i := range order {
				if at += "/" + string('a'+rune(i)); i == 2 && last == "file" {
					s.write(strings.TrimPrefix(at, s.top+"/"), "text")
				} else {
					s.write(strings.TrimPrefix(at, s.top+"/")+"/f", "text")
				}
				members[string(order[i])](&c, at)
			}
			script, want := "", ""
			for i := range order {
				file := s.home + "/top/" + "a/b/c"[:2*i+1] + "/f"
				if i == 2 && last == "file" {
					file = strings.TrimSuffix(file, "/f")
				}
				script += "cat " + file + " >/dev/null 2>&1 && printf R; { echo text >" + file + "; } 2>/dev/null && printf W; printf ' '\n"
				want += map[byte]string{'w': "RW ", 'r': "R ", 'h': " "}[order[i]]
			}
			if got := s.run(c, script); got.out != strings.TrimSpace(want) {
				t.Errorf("%s, a %s: %q, want %q: %s", order, last, got.out, want, got.errs)
			}
		}
	}
}

// A home that is a link, and a project named by it, are where they were, by
// both names; the settings in it stay closed by both.
func TestRealHomeIsALink(t *testing.T) {
	s := newStage(t)
	s.link("home", "by-link")
	s.write("home/notes", "mine")
	s.write("home/.ssh/id", "private")
	link := s.top + "/by-link"
	for i, e := range s.env {
		if strings.HasPrefix(e, "HOME=") {
			s.env[i] = "HOME=" + link
		}
	}
	c := s.confinement()
	c.Write, c.Hide, c.ReadHome = []string{link + "/work"}, []string{link + "/.ssh"}, true
	s.want(s.run(c, "cat "+link+"/notes "+s.home+"/notes; echo x >"+link+"/"+"work/f && cat "+s.home+"/"+"work/f; "+
		tries("cat "+link+"/.lnk/secret", "cat "+s.home+"/.lnk/secret", "cat "+link+"/.ssh/id", "cat "+s.home+"/.ssh/id", "mkdir "+link+"/"+"work/.git", "echo x >"+link+"/notes")),
		"minemine"+"x")
}

// Where nothing can be made no name need be held: a folder that is marked
// immutable is written below its top.
func TestRealImmutable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to mark a folder")
	}
	s := newStage(t)
	s.mkdir("home/work/sub")
	mark(t, s.work, unix.STATX_ATTR_IMMUTABLE)
	s.want(s.run(s.confinement(), tries("mkdir .git", "echo x >x", "echo x >sub/x")), "did echo x >sub/x")
}

// mark marks a folder until the test ends, where the file system has marks
// (ioctl_iflags(2), whose bits are those of statx(2)).
func mark(t *testing.T, dir string, bit int) {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	set := func(bits int) error { return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, bits) }
	was, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = set(was | bit)
	}
	if err != nil {
		f.Close()
		t.Fatalf("TMPDIR is on a file system without marks (chattr): %v", err)
	}
	t.Cleanup(func() {
		if err := set(was); err != nil {
			t.Error(err)
		}
		f.Close()
	})
}
