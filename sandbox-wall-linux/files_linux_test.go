package linuxwall

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

// want fails the test unless the program said what is wanted.
func (s *stage) want(r result, want string) {
	s.t.Helper()
	if r.out != want {
		s.t.Errorf("said %q, want %q\nerrors: %s\nexit status %d", r.out, want, r.errs, r.code)
	}
}

// tries is a script that tries each command and says which of them worked.
func tries(commands ...string) string {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "( %s ) >/dev/null 2>&1 && echo 'did %s'\n", c, strings.ReplaceAll(c, "'", ""))
	}
	b.WriteString("true")
	return b.String()
}

func TestRealView(t *testing.T) {
	s := newStage(t)
	s.write("home/private", "x")
	s.write("home/work/file", "mine")
	r := s.run(s.confinement(), `cat file; echo; echo new >made; pwd; cat made
		cat "$HOME/private" /etc/shadow /proc/kcore; ls / | tr '\n' ' '; echo
		echo t >/tmp/t && echo h >"$HOME/h" && echo v >/var/tmp/v && echo s >/dev/shm/s && echo private ones are written
		hostname; cat /etc/hosts | head -1; cat /etc/resolv.conf | head -1; ls -A /run; ls /var/run/`)
	lines := strings.Split(r.out, "\n")
	want := []string{"mine", s.work, "new", "", "private ones are written", HostName, "127.0.0.1 localhost lnk", "nameserver 127.0.0.1", "lnk", "lnk"}
	if len(lines) != len(want) {
		t.Fatalf("said %q\nerrors: %s", r.out, r.errs)
	}
	for i, w := range want {
		if w != "" && lines[i] != w {
			t.Errorf("line %d is %q, want %q", i, lines[i], w)
		}
	}
	for _, name := range []string{"root", "home", "srv", "mnt", "boot", "media"} {
		if strings.Contains(" "+lines[3]+" ", " "+name+" ") && !within(s.home, "/"+name) {
			t.Errorf("/%s is in view: %s", name, lines[3])
		}
	}
	if b, err := os.ReadFile(s.work + "/made"); err != nil || string(b) != "new\n" {
		t.Errorf("what was written is not there: %q, %v", b, err)
	}
	for _, left := range []string{"/tmp/t", s.home + "/h", "/var/tmp/v", "/dev/shm/s"} {
		if _, err := os.Lstat(left); err == nil {
			t.Errorf("%s was made on this machine", left)
		}
	}
}

// Nothing outside write can be changed, nor the kernel's settings, which root
// could by its number alone.
func TestRealReadOnly(t *testing.T) {
	s := newStage(t)
	notes := s.mkdir("home/notes")
	s.write("home/notes/n", "x")
	c := s.confinement()
	c.Read = []string{notes}
	s.want(s.run(c, tries(
		"echo x >/x", "mkdir /srv", "echo x >/usr/x", "echo x >/etc/x", "echo x >/run/x", "echo x >/run/lnk/x", "rm /run/lnk/lnk-sandbox",
		"echo x >/dev/x", "echo x >"+notes+"/x", "echo x >"+notes+"/n", "chmod 777 "+notes+"/n", "touch "+notes+"/n", "mv "+notes+" "+notes+"2",
		"ln "+notes+"/n .", "mv ../work ../w2", "rm -r ../work",
		"cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern",
		"cat /proc/sys/fs/file-max >/proc/sys/fs/file-max", "echo 0 >/proc/sysrq-trigger", "echo 1 >/sys/fs/cgroup/x",
		"mount -t tmpfs x /tmp", "umount "+notes, "umount .git", "mount -o remount,rw /usr",
	)), "")
}

func TestRealHide(t *testing.T) {
	s := newStage(t)
	s.write("home/work/a/b/secret/key", "hidden")
	s.write("home/work/a/file", "hidden")
	s.write("home/work/a/b/secret/open/o", "open")
	c := s.confinement()
	c.Hide = []string{s.work + "/a/b/secret", s.work + "/a/file", s.work + "/later", s.work + "/x/y/later"}
	c.Read = []string{s.work + "/a/b/secret/open"}
	r := s.run(c, "ls a/b/secret; cat a/b/secret/open/o; echo; stat -c %a a/b/secret; "+tries(
		"cat a/b/secret/key", "cat a/file", "cp a/file f", "ln a/file f", "mv a/file f", "rm a/file", "echo x >a/file",
		"mv a/b/secret s", "mv a/b a/c", "mv a z", "rmdir a/b/secret", "rm -rf a", "echo x >a/b/secret/x", "chmod 755 a/b/secret",
		"mkdir later", "echo x >later", "echo x >later/x", "mv later l", "rmdir later", "ln -s / later", "mkdir -p x/y/later", "mkdir x", "echo x >x/y",
	)+"; chmod -R u+w . 2>/dev/null; true") // mv copies what is in view where it cannot rename
	s.want(r, "open\nopen\n555")
	if b, _ := os.ReadFile(s.work + "/a/b/secret/key"); string(b) != "hidden" {
		t.Error("the hidden file was changed")
	}
	for _, left := range []string{"later", "x"} {
		if _, err := os.Lstat(s.work + "/" + left); err == nil {
			t.Errorf("%s was left behind", left)
		}
	}
}

// What is renamed above something hidden in one run would lay it open in the
// next, which hides the old name: the folders between are pinned.
func TestRealPinsHoldOverRuns(t *testing.T) {
	s := newStage(t)
	s.write("home/work/a/b/secret", "hidden")
	c := s.confinement()
	c.Hide = []string{s.work + "/a/b/secret"}
	r := s.run(c, "mv a/b a/c 2>&1; mv a z 2>&1; mkdir n && mv n m && rmdir m && echo others are renamed")
	for _, refused := range []string{"mv: cannot move 'a/b' to 'a/c': Device or resource busy", "mv: cannot move 'a' to 'z': Device or resource busy", "others are renamed"} {
		if !strings.Contains(r.out, refused) {
			t.Errorf("said %q, want it to say %q", r.out, refused)
		}
	}
	s.want(s.run(c, "cat a/b/secret a/c/secret z/b/secret 2>/dev/null; ls"), "a")
}

func TestRealSettingsStayClosed(t *testing.T) {
	for _, there := range []bool{true, false} {
		t.Run(fmt.Sprint("there: ", there), func(t *testing.T) {
			s := newStage(t)
			c := s.confinement()
			c.Write = []string{s.home}
			if !there {
				if err := os.RemoveAll(s.home + "/.lnk"); err != nil {
					t.Fatal(err)
				}
			} else {
				c.Read = []string{s.home + "/.lnk/secret"}
				c.Write = append(c.Write, s.home+"/.lnk")
			}
			s.want(s.run(c, `cd; ls -A .lnk; `+tries("cat .lnk/secret", "echo x >.lnk/x", "mkdir -p .lnk/sandbox", "mv .lnk l", "rm -r .lnk", "rmdir .lnk", "ln -s work .lnk", "mv $HOME /tmp/x")), "")
			entries, err := os.ReadDir(s.home + "/.lnk")
			if err != nil {
				t.Fatalf("the settings are gone: %v", err)
			}
			for _, e := range entries {
				if e.Name() != "secret" && e.Name() != "sandbox" {
					t.Errorf("%s was put into the settings", e.Name())
				}
			}
		})
	}
}

func TestRealDotFiles(t *testing.T) {
	s := newStage(t)
	s.write("home/work/.envrc", "echo mine")
	s.write("home/work/.idea/workspace.xml", "mine")
	before := listing(t, s.work)
	r := s.run(s.confinement(), "cat .envrc .idea/workspace.xml; echo; "+tries(
		"echo x >.envrc", "rm .envrc", "mv .envrc e", "ln -sf / .envrc", "chmod +x .envrc",
		"echo x >.idea/workspace.xml", "mv .idea i", "rm -r .idea", "touch .idea/x",
		"mkdir .git", "mkdir .vscode", "git init", "echo x >.vscode/tasks.json", "mkdir -p .git/hooks", "mv .git g", "rmdir .git",
		"mkdir d && mv d .git", "mkdir e && mv -T e .vscode", "ln -s / .vscode",
	))
	s.want(r, "echo minemine")
	for _, d := range []string{"d", "e"} {
		os.Remove(s.work + "/" + d)
	}
	if after := listing(t, s.work); after != before {
		t.Errorf("the folder was\n%s\nand is\n%s", before, after)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, info.Mode(), e.Name())
	}
	return b.String()
}

func TestRealDotFilesOpened(t *testing.T) {
	s := newStage(t)
	s.write("home/work/.envrc", "x")
	q := s.mkdir("home/q")
	c := s.confinement()
	c.Write = append(c.Write, q)
	c.WriteDotFiles = []string{s.work, q + "/.idea"}
	s.want(s.run(c, tries("echo y >.envrc", "mkdir .git", "mv .git g", "mkdir ../q/.idea", "mkdir ../q/.git")),
		"did echo y >.envrc\ndid mkdir .git\ndid mv .git g\ndid mkdir ../q/.idea")
}

// A link in a write folder can be an earlier run's, to have more opened.
func TestRealPlantedLink(t *testing.T) {
	s := newStage(t)
	s.write("home/.ssh/id", "hidden")
	c := s.confinement()
	s.want(s.run(c, "ln -s ../.ssh out && echo planted"), "planted")
	for _, change := range []func(){
		func() { c.Write = append(c.Write, s.work+"/out") },
		func() { c.Read = []string{s.work + "/out/id"} },
		func() { c.Hide = []string{s.work + "/out"} },
	} {
		c = s.confinement()
		change()
		_, err := PlanFor(c, Own, s.facts(c), []string{"true"})
		if err == nil || !strings.Contains(err.Error(), "passes the link "+s.work+"/out") {
			t.Errorf("error %v, want a refusal of the link", err)
		}
	}
}

// A link that a person named works by both names.
func TestRealNamedLink(t *testing.T) {
	s := newStage(t)
	s.mkdir("real/p")
	s.link("../real", "home/ln")
	c := s.confinement()
	c.Write = []string{s.home + "/ln/p"}
	s.work = s.home + "/ln/p"
	s.env = append(s.env, "PWD="+s.work)
	r := s.run(c, "pwd; echo a >"+s.home+"/ln/p/a; echo b >"+s.top+"/real/p/b; cat a b; "+
		tries("mkdir "+s.home+"/ln/p/.git", "mkdir "+s.top+"/real/p/.git", "mv "+s.home+"/ln/p/.git x"))
	s.want(r, s.work+"\na\nb")
	for _, name := range []string{"a", "b"} {
		if _, err := os.Stat(s.top + "/real/p/" + name); err != nil {
			t.Error(err)
		}
	}
}

// Connecting to a socket is no write: it is closed by being covered.
func TestRealSockets(t *testing.T) {
	s := newStage(t)
	notes := s.mkdir("home/notes")
	called := make(chan string, 10)
	for _, at := range []string{notes + "/app.sock", s.work + "/run/db.sock"} {
		if err := os.MkdirAll(parent(at), 0o755); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				called <- at
				conn.Close()
			}
		}()
	}
	c := s.confinement()
	c.Read = []string{notes}
	script := s.write("home/work/call.py", `
import socket, sys, os
for at in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(at); print("reached", at)
    except OSError as e:
        print("refused")
server = socket.socket(socket.AF_UNIX); server.bind("own.sock"); server.listen()
socket.socket(socket.AF_UNIX).connect("own.sock"); print("its own works"); os.unlink("own.sock")
`)
	r := s.run(c, "python3 "+script+" "+notes+"/app.sock run/db.sock; mv run r 2>/dev/null; mv run/db.sock x 2>/dev/null; ls "+notes)
	s.want(r, "refused\nrefused\nits own works\napp.sock")
	select {
	case at := <-called:
		t.Errorf("%s was called", at)
	default:
	}
	// With no wall the same calls come through, so that the test sees.
	for _, at := range []string{notes + "/app.sock", s.work + "/run/db.sock"} {
		conn, err := net.Dial("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		<-called
	}
}

// What only root may read stays closed to root's sandbox too, which is user 0
// and owns those files.
func TestRealRootOnly(t *testing.T) {
	s := newStage(t)
	r := s.run(s.confinement(), tries("cat /etc/shadow", "cat /etc/gshadow", "cat /etc/ssl/private/*", "ls /etc/ssl/private/ | grep .")+"; cat /etc/passwd | head -c 4")
	s.want(r, "root")
	if os.Getuid() == 0 {
		if _, err := os.ReadFile("/etc/shadow"); err != nil {
			t.Fatalf("with no wall it is closed too, so that the test sees nothing: %v", err)
		}
	}
}

// The program starts where it is said, never silently elsewhere.
func TestRealCurrentFolder(t *testing.T) {
	s := newStage(t)
	c := s.confinement()
	other := s.mkdir("other")
	s.work = other // where it is started, not what it may write
	p := s.plan(c, "/bin/sh", "-c", "pwd")
	s.want(s.start(p), s.home+"/work")
	if len(p.Notes) == 0 || !strings.Contains(p.Notes[0], other) || len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0], other) {
		t.Errorf("notes %q, warnings %q", p.Notes, p.Warnings)
	}
	c.Write = nil
	s.want(s.run(c, "pwd"), "/")
}

func TestRealTemporaryFolder(t *testing.T) {
	s := newStage(t)
	c := s.confinement()
	c.TmpPrefix = "web-"
	s.env = append(s.env, "TMPDIR="+TmpDir(c))
	s.want(s.run(c, `f=$(mktemp) && case $f in "$TMPDIR"/*) echo made;; esac; stat -c %a "$TMPDIR"; [ -w /tmp ] && echo tmp too`), "made\n700\ntmp too")
}

func TestRealManyHides(t *testing.T) {
	s := newStage(t)
	c := s.confinement()
	for i := range 300 {
		c.Hide = append(c.Hide, fmt.Sprintf("%s/many/%d", s.work, i))
		s.write(fmt.Sprintf("home/work/many/%d/secret", i), "hidden")
	}
	s.want(s.run(c, "cat many/*/secret 2>/dev/null; ls many | wc -l"), "300")
}

// Two sandboxes of one folder share what stands in for what is missing: the
// second finds the first's, and is not laid open when that one ends.
func TestRealTwoAtOnce(t *testing.T) {
	s := newStage(t)
	s.repository()
	other := s.mkdir("home/other")
	c := s.confinement()
	c.Write = append(c.Write, other)
	c.WriteDotFiles = []string{s.work + "/.git"}
	c.Hide = []string{s.work + "/later", s.work + "/x/y/later"}
	first := s.plan(c, "true")
	held := s.hold(&first)
	second := s.plan(c, "/bin/sh", "-c", "cd "+other+"; "+tries("mkdir .git", "mkdir .envrc", "cd "+s.work+" && mkdir later", "cd "+s.work+" && mkdir x",
		"cd "+s.work+" && echo x >.git/commondir", "cd "+s.work+" && echo x >.git/config.worktree", "cd "+s.work+" && mkdir .git/modules/x"))
	if got, want := second.Explain(), first.Explain(); got != want {
		t.Fatalf("the second plan is\n%s\nthe first was\n%s", got, want)
	}
	again := s.hold(&second)
	report, err := held.Release()
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Kept) != len(first.Placeholders) || len(report.Kept) < 8 {
		t.Errorf("the first leaves %+v, of %d", report, len(first.Placeholders))
	}
	opened, err := Open(&second)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	s.want(s.bwrap(second, opened), "")
	if report, err = again.Release(); err != nil || len(report.Removed) != len(first.Placeholders) {
		t.Errorf("the second leaves %+v, %v", report, err)
	}
}
