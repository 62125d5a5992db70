package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// withEtc begins a sandbox of root's that reads what it can of files like
// /etc/shadow over and over, until there is a file "go", on a machine whose /etc is
// a copy: by itself, or as an overlay. What is read is in the file "read".
func (s *sandbox) withEtc(overlay bool, args ...string) (*exec.Cmd, func() string) {
	s.t.Helper()
	if os.Getuid() != 0 {
		s.t.Skip("needs root: nobody else's sandbox owns what root does")
	}
	etc := filepath.Join(s.root, "etc")
	lay := `cp -a /etc "$1" && cd "$1" && rm -rf *shadow* && umask 077 && mkdir -p keys upper work && chmod 755 . &&
echo secret >gshadow && echo secret >shadow && echo secret >keys/key && chmod 640 gshadow && echo for all >oshadow && chmod 644 oshadow`
	if out, err := exec.Command("sh", "-c", lay, "sh", etc).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	mount := `mount --bind "$1" /etc`
	if overlay {
		mount = `mkdir "$1/../u" "$1/../w" && mount -t overlay -o lowerdir="$1",upperdir="$1/../u",workdir="$1/../w" etc /etc`
	}
	inside := `echo up; while [ ! -e go ]; do for f in /etc/*shadow* /etc/.* /etc/keys/*; do
if [ -f $f ]; then while read -r line; do echo $line; done <$f; fi; done >>read 2>/dev/null; done; cat /etc/passwd >passwd; exit 9`
	cmd, errs := s.start(append(append([]string{"unshare", "--mount", "sh", "-c", mount + `; shift; exec "$@"`, "sh", etc,
		lnk(), "sandbox", "run", "--yes", "--write=" + s.project}, args...), "--", "sh", "-c", inside)...)
	return cmd, errs.String
}

// beside runs a script where a command has its files.
func (s *sandbox) beside(cmd *exec.Cmd, script string) {
	s.t.Helper()
	if out, err := exec.Command("nsenter", "-m", "-t", strconv.Itoa(cmd.Process.Pid), "sh", "-c", script).CombinedOutput(); err != nil {
		s.t.Errorf("%v: %s", err, out)
	}
}

// A package that is installed outside, or a user that is added, replaces files
// that only root may read. Root's sandbox goes on, and reads them by none of the
// names that they have meanwhile, wherever its wall is made.
func TestRootOnlyReplacedFromOutside(t *testing.T) {
	port := strconv.Itoa(freePort(t))
	for _, net := range [][]string{nil, {allow}, {allow, "--serve=" + port}, {allow, "--processes=500"}, {"--only=/usr/bin/"}} {
		s := newSandbox(t)
		cmd, errs := s.withEtc(false, net...)
		s.beside(cmd, `cd /etc; umask 077; for i in $(seq 60); do
echo secret >gshadow+; chmod 640 gshadow+; ln -f gshadow gshadow-; mv gshadow+ gshadow; echo secret >nshadow; ln -f nshadow .shadow; mv nshadow shadow; rm -r keys; mkdir keys; echo secret >keys/key; done
echo new >passwd+; chmod 644 passwd+; mv passwd+ passwd`)
		s.put("go", "")
		if status := waitFor(t, cmd); status != 9 {
			t.Errorf("%q: status %d: %s", net, status, errs())
		}
		read, err := os.ReadFile(filepath.Join(s.project, "read"))
		if all := "for all\n"; err != nil || len(read) == 0 || strings.ReplaceAll(string(read), all, "") != "" {
			t.Errorf("%q: read %.200q, %v, want what all may read", net, read, err)
		}
		if b, err := os.ReadFile(filepath.Join(s.project, "passwd")); err != nil || string(b) != "new\n" {
			t.Errorf("%q: a file that was replaced says %q, %v", net, b, err)
		}
	}
}

// Where the files are covered, each by itself, the run is ended as before.
func TestRootOnlyThatIsCovered(t *testing.T) {
	for _, c := range []struct {
		name    string
		overlay bool
		args    []string
	}{
		{"bubblewrap", false, []string{"--bubblewrap"}},
		{"an overlay", true, nil},
	} {
		s := newSandbox(t)
		cmd, errs := s.withEtc(c.overlay, c.args...)
		if read, _ := os.ReadFile(filepath.Join(s.project, "read")); strings.Contains(string(read), "secret") {
			t.Errorf("%s: read %.200q", c.name, read)
		}
		s.beside(cmd, "cd /etc; umask 077; echo secret >gshadow+; mv gshadow+ gshadow")
		if status := waitFor(t, cmd); status != 137 || !strings.Contains(errs(), "/etc/gshadow was replaced, renamed or removed from outside") {
			t.Errorf("%s: status %d: %s", c.name, status, errs())
		}
	}
}
