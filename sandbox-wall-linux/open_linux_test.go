package linuxwall

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// What is swapped between looking at it and opening it is not bound.
func TestRealOpenDetectsSwaps(t *testing.T) {
	for _, c := range []struct {
		name string
		swap func(s *stage)
	}{
		{"a folder for a link", func(s *stage) {
			s.must(os.Rename(s.home+"/w/in", s.home+"/w/aside"))
			s.must(os.Symlink(s.home+"/.ssh", s.home+"/w/in"))
		}},
		{"a folder for another", func(s *stage) {
			s.must(os.Rename(s.home+"/w/in", s.home+"/w/aside"))
			s.must(os.Mkdir(s.home+"/w/in", 0o755))
		}},
		{"a folder above for a link", func(s *stage) {
			s.must(os.Rename(s.home+"/w", s.home+"/aside"))
			s.must(os.Symlink("aside", s.home+"/w"))
		}},
		{"a folder for a file", func(s *stage) {
			s.must(os.Remove(s.home + "/w/in"))
			s.must(os.WriteFile(s.home+"/w/in", nil, 0o644))
		}},
		{"a folder for nothing", func(s *stage) { s.must(os.Remove(s.home + "/w/in")) }},
		{"a file for another", func(s *stage) {
			s.must(os.Rename(s.home+"/f", s.home+"/aside"))
			s.must(os.WriteFile(s.home+"/f", nil, 0o644))
		}},
		{"a pinned folder for another", func(s *stage) {
			s.must(os.Rename(s.work+"/a", s.work+"/aside"))
			s.must(os.MkdirAll(s.work+"/a/hidden", 0o755))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			s.mkdir("home/w/in")
			s.mkdir("home/.ssh")
			s.mkdir("home/work/a/hidden")
			s.write("home/f", "")
			conf := s.confinement()
			conf.Write = append(conf.Write, s.home+"/w/in")
			conf.Read = []string{s.home + "/f"}
			conf.Hide = []string{s.work + "/a/hidden"}
			p := s.plan(conf, "true")
			before := descriptors(t)
			o, err := Open(&p)
			if err != nil {
				t.Fatalf("with nothing swapped: %v", err)
			}
			o.Close()
			c.swap(s)
			o, err = Open(&p)
			if !errors.Is(err, ErrChanged) || !errors.Is(err, ErrRefused) {
				t.Errorf("error %v, want that it changed", err)
			}
			if o != nil {
				t.Error("descriptors were given with the error")
			}
			if after := descriptors(t); after != before {
				t.Errorf("%d descriptors are open, %d were", after, before)
			}
		})
	}
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// What was opened is what is bound, whatever stands at its path by then.
func TestRealOpenedStaysWhatItWas(t *testing.T) {
	s := newStage(t)
	s.write("home/notes/n", "good")
	s.write("home/.ssh/n", "bad")
	c := s.confinement()
	c.Read = []string{s.home + "/notes"}
	p := s.plan(c, "/bin/sh", "-c", "cat "+s.home+"/notes/n")
	undo := s.prepare(&p)
	defer undo()
	o, err := Open(&p)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	s.must(os.Rename(s.home+"/notes", s.home+"/aside"))
	s.must(os.Symlink(".ssh", s.home+"/notes"))
	s.want(s.bwrap(p, o), "good")
}

// Nothing is passed on but by name.
func TestRealOpenedAreClosedOnExec(t *testing.T) {
	s := newStage(t)
	p := s.plan(s.confinement(), "true")
	o, err := Open(&p)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, f := range o.Files() {
		flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0)
		if err != nil {
			t.Fatal(err)
		}
		if flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("%s is passed on by exec", f.Name())
		}
	}
}

// The facts of this machine are the same when they are read again, and read
// without starting anything.
func TestRealFactsAreCached(t *testing.T) {
	s := newStage(t)
	c := s.confinement()
	s.facts(c)
	sys := LocalSystem()
	sys.BwrapHelp = func(string) (string, string, error) {
		t.Error("bubblewrap was asked again")
		return "", "", errors.New("asked again")
	}
	f, err := readFacts(sys, c, Own, Bubblewrap, s.env)
	if err != nil {
		t.Fatal(err)
	}
	if f.Bwrap.Version == "" || len(f.Bwrap.Lacks) > 0 {
		t.Errorf("bubblewrap %+v", f.Bwrap)
	}
	info, err := os.Stat(s.home + "/.lnk/sandbox/ready.json")
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("what is kept is %v", info.Mode())
	}
	for _, name := range []string{"/", "/usr", s.work, s.work + "/.git", "/etc/hosts"} {
		if _, known := f.Nodes[name]; !known {
			t.Errorf("nothing is said of %s", name)
		}
	}
}

func TestRealFactsOfStrangePaths(t *testing.T) {
	s := newStage(t)
	c := s.confinement()
	for _, name := range []string{"a b", `q"uo'te`, "k=v", "--", "-x", "é", "$(id)", "tab\there", "back\\slash"} {
		c.Write = append(c.Write, s.mkdir("home/strange/"+name))
	}
	s.want(s.run(c, `cd "$HOME/strange" && for d in *; do echo x >"./$d/made" && mkdir "./$d/.git" 2>/dev/null; done; ls ./*/made | wc -l`),
		"9")
	for _, dir := range c.Write[1:] {
		if _, err := os.Stat(dir + "/made"); err != nil {
			t.Error(err)
		}
	}
}

// The measure of a start: reading the facts of the default sandbox and making
// its plan is about a millisecond.
func BenchmarkFacts(b *testing.B) {
	c, environ := benched(b)
	for b.Loop() {
		if _, err := ReadFacts(LocalSystem(), c, Own, Bubblewrap, environ); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	c, environ := benched(b)
	f, err := ReadFacts(LocalSystem(), c, Own, Bubblewrap, environ)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, err := PlanFor(c, Own, f, []string{"true"})
		if err != nil {
			b.Fatal(err)
		}
		o, err := Open(&p)
		if err != nil {
			b.Fatal(err)
		}
		o.Close()
	}
}

func benched(b *testing.B) (client.Confinement, []string) {
	c := client.Confinement{Name: "bench", Write: []string{b.TempDir()}, Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{})}
	return c, append(os.Environ(), "LNK_HOME="+b.TempDir())
}

// What is covered and gone by the time it is to be covered is a change, which
// is looked at again: bubblewrap would not find it.
func TestCoveredAndGone(t *testing.T) {
	at := t.TempDir() + "/passwd.lock"
	for _, verb := range []Verb{CloseFile, Close} {
		if verb == Close {
			if err := os.Mkdir(at, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p := Plan{Steps: []Step{{Verb: verb, At: at, Is: lstat(at)}}}
		o, err := Open(&p)
		if err != nil {
			t.Fatal(err)
		}
		o.Close()
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(&p); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", verb, err)
		}
		if err := p.Stale(); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	// What came back in between did not stand there all the time.
	if err := os.WriteFile(at, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	was := lstat(at)
	was.Changed--
	back := Plan{Steps: []Step{{Verb: CloseFile, At: at, Is: was}}}
	if err := back.Stale(); !errors.Is(err, ErrChanged) {
		t.Errorf("one that came back: %v", err)
	}
	if o, err := Open(&back); err != nil {
		t.Errorf("one that came back: %v", err)
	} else {
		o.Close()
	}
	// Where nothing stood there is a placeholder by now.
	p := Plan{Steps: []Step{{Verb: Close, At: at}}}
	if err := p.Stale(); err != nil {
		t.Error(err)
	}
}
