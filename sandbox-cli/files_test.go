package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A run leaves the project as it was, however it ends, and git sees nothing new.
func TestNothingIsLeftInTheProject(t *testing.T) {
	for _, repository := range []bool{false, true} {
		s := newSandbox(t)
		s.put("a.c", "int main;\n")
		if repository {
			git(t, s, "init", "-q")
			git(t, s, "add", "a.c")
		}
		before := listing(t, s.project)
		for _, argv := range [][]string{{"true"}, {"false"}, {"sh", "-c", "kill -9 $$"}, {"no-such-program"}} {
			s.run(append([]string{"--write=" + s.project, "--"}, argv...)...)
			if after := listing(t, s.project); after != before {
				t.Errorf("repository %v, %q: before\n%safter\n%s", repository, argv, before, after)
			}
		}
		if repository {
			if out := git(t, s, "status", "--porcelain"); out != "A  a.c\n" {
				t.Errorf("git status: %q", out)
			}
		}
	}
}

// listing is the folder's tree: names, modes and sizes.
func listing(t testing.TB, dir string) string {
	t.Helper()
	for tries := 1; ; tries++ {
		out, err := exec.Command("find", dir, "-path", "*/.git/*", "-prune", "-o", "-printf", "%p %m %s %Y\n").Output()
		if err == nil {
			return string(out)
		}
		// A stub that goes while it is listed is an error of find's.
		if tries == 20 {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func git(t *testing.T, s *sandbox, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.project
	cmd.Env = s.env("GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// What runs outside cannot be planted from inside, whether or not it was there.
func TestDotFilesCannotBePlanted(t *testing.T) {
	plants := map[string]string{
		"envrc":          "echo evil > .envrc",
		"hook":           "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
		"tasks":          "mkdir -p .vscode && echo evil > .vscode/tasks.json",
		"idea":           "mkdir -p .idea && echo evil > .idea/workspace.xml",
		"moved over":     "mkdir x && echo evil > x/pre-commit && mv x .vscode",
		"folder swapped": "mv .vscode gone && mkdir .vscode && echo evil > .vscode/tasks.json",
		"linked":         "echo evil > x; ln -f x .envrc || ln -sf x .envrc",
		"removed":        "rm -rf .vscode .envrc .idea && echo evil > .envrc",
	}
	for _, there := range []bool{false, true} {
		for name, plant := range plants {
			t.Run(name, func(t *testing.T) {
				s := newSandbox(t)
				if there {
					git(t, s, "init", "-q")
					s.put(".envrc", "mine\n")
					s.put(".vscode/tasks.json", "mine\n")
					s.put(".idea/workspace.xml", "mine\n")
				}
				e := s.run("--write="+s.project, "--", "sh", "-c", plant)
				if e.status == 0 {
					t.Errorf("there %v: it said it worked", there)
				}
				for _, file := range []string{".envrc", ".git/hooks/pre-commit", ".vscode/tasks.json", ".idea/workspace.xml", ".vscode/pre-commit"} {
					b, err := os.ReadFile(filepath.Join(s.project, file))
					if err == nil && strings.Contains(string(b), "evil") {
						t.Errorf("there %v: %s was planted", there, file)
					}
					if there && file == ".envrc" && string(b) != "mine\n" {
						t.Errorf("%s is no longer mine: %q", file, b)
					}
				}
			})
		}
	}
}

// write_dot_files opens them.
func TestDotFilesThatAreOpened(t *testing.T) {
	s := newSandbox(t)
	s.must("--write="+s.project, "--write-dot-files="+s.project, "--", "sh", "-c", "git init -q && echo mine > .envrc")
	for _, file := range []string{".git/HEAD", ".envrc"} {
		if _, err := os.Stat(filepath.Join(s.project, file)); err != nil {
			t.Error(err)
		}
	}
}

// What is not named is not there, and cannot be written.
func TestOnlyWhatIsNamed(t *testing.T) {
	s := newSandbox(t)
	secret := filepath.Join(s.home, "secret")
	outside := filepath.Join(s.root, "outside")
	shared := filepath.Join(s.root, "shared")
	for path, text := range map[string]string{secret: "private", outside: "private", shared: "shared"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		script string
		well   bool
	}{
		"read the home":                 {"cat " + secret, false},
		"read beside the project":       {"cat " + outside, false},
		"read what is named":            {"cat " + shared, true},
		"write what is read":            {"echo x > " + shared, false},
		"write the system":              {"touch /usr/x || touch /etc/x || touch /x || touch /run/x", false},
		"write the project":             {"echo x > made && cat made", true},
		"write the temporary folder":    {"f=$(mktemp) && echo x > $f && [ -d $TMPDIR ]", true},
		"keep a cache in the home":      {"mkdir -p ~/.cache && echo x > ~/.cache/x", true},
		"read the settings":             {"ls ~/.lnk/sandbox", false},
		"see the host's processes":      {"ls /proc | grep -qx " + os.Getenv("LNK_TEST_PID"), false},
		"mount":                         {"mount -t tmpfs x /tmp", false},
		"make a namespace":              {"unshare -Ur true", false},
		"gain a capability":             {"grep -q 'CapEff:.*[1-9a-f]' /proc/self/status", false},
		"run without new privileges":    {"grep -qx 'NoNewPrivs:\t1' /proc/self/status", true},
		"run under a filter":            {"grep -qx 'Seccomp:\t2' /proc/self/status", true},
		"read only root's own":          {"cat /etc/shadow", false},
		"use its own shared memory":     {"echo x > /dev/shm/x", true},
		"run our binary, not change it": {"[ -x /run/lnk/lnk-sandbox ] && ! echo x 2>/dev/null > /run/lnk/lnk-sandbox", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := s.run("--write="+s.project, "--read="+shared, "--", "sh", "-c", c.script)
			if (e.status == 0) != c.well || e.status >= 125 {
				t.Errorf("status %d: %s%s", e.status, e.out, e.errors)
			}
		})
	}
	for path, text := range map[string]string{secret: "private", outside: "private", shared: "shared"} {
		if b, _ := os.ReadFile(path); string(b) != text {
			t.Errorf("%s holds %q", path, b)
		}
	}
	if _, err := os.Stat(filepath.Join(s.home, ".cache")); err == nil {
		t.Error("the home folder of the host was written")
	}
}

// hide closes what it names within what is opened; what is named within it is open.
func TestHide(t *testing.T) {
	s := newSandbox(t)
	s.put("closed/secret", "private")
	s.put("closed/open/file", "shared")
	s.put("token", "private")
	grants := []string{"--write=" + s.project, "--hide=" + s.project + "/closed", "--hide=" + s.project + "/token", "--read=" + s.project + "/closed/open", "--"}
	for script, well := range map[string]bool{
		"cat closed/secret":                    false,
		"cat token":                            false,
		"echo x > token":                       false,
		"echo x > closed/new":                  false,
		"cat closed/open/file":                 true,
		"echo x > closed/open/file":            false,
		"mv closed elsewhere":                  false,
		"mv token elsewhere || rm -f token":    false,
		"mkdir y && mv y/../closed y":          false,
		"ln token other && cat other":          false,
		"rm -rf closed":                        false,
		"echo x > ordinary && mv ordinary odd": true,
	} {
		e := s.run(append(grants, "sh", "-c", script)...)
		if (e.status == 0) != well || e.status >= 125 {
			t.Errorf("%q: status %d: %s%s", script, e.status, e.out, e.errors)
		}
	}
	for name, text := range map[string]string{"closed/secret": "private", "token": "private", "closed/open/file": "shared"} {
		if b, _ := os.ReadFile(filepath.Join(s.project, name)); string(b) != text {
			t.Errorf("%s holds %q", name, b)
		}
	}
}

// A home that lies in a system folder is as little shown as any other.
func TestHomeInAReadFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: to make a home in /opt")
	}
	s := newSandbox(t)
	home, err := os.MkdirTemp("/opt", "lnk-t-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	if err := os.Chmod(home, 0o755); err != nil { // one that root alone may read is closed anyhow
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, maker := range []string{"--terminal=false", "--bubblewrap"} {
		e := s.command("", []string{lnk(), "sandbox", "run", "--yes", maker, "--", "sh", "-c", "cat ~/secret; echo x > ~/own && cat ~/own"}, "HOME="+home)
		if e.out != "x\n" || !strings.Contains(e.errors, "No such file") {
			t.Errorf("%s: status %d, out %q, errors %q", maker, e.status, e.out, e.errors)
		}
	}
	if _, err := os.Lstat(filepath.Join(home, "own")); err == nil {
		t.Error("it wrote the home of this machine")
	}
}
