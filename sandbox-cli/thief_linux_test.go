package cli_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// masked is the secret as the thief is told what to look for.
func masked(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] ^= 0x5a
	}
	return hex.EncodeToString(b)
}

func (s *sandbox) putThief(t *testing.T) {
	t.Helper()
	thief, err := os.ReadFile("testdata/thief.py")
	if err != nil {
		t.Fatal(err)
	}
	s.put("thief.py", string(thief))
}

// A program that tries everything does not find the secret, and nobody outside
// sees it in what other processes show, or in a file.
func TestThief(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	s.putThief(t)
	with, err := json.Marshal(map[string]any{"env": map[string]string{}, "secrets": []any{v.handed(secretValue, true)}, "serve": []int{}, "write": []string{}})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() { w.Write(with); w.Close() }()
	cmd := exec.Command(lnk(), "sandbox", "run", "--yes", "--with-fd", "3", "--write", s.project, "--read-home", "--developer-tools",
		"--", "/usr/bin/python3", "thief.py", masked(secretValue), v.host)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = s.project, s.env("SSL_CERT_FILE="+v.ca), []*os.File{r}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(2*hangGuard, func() { cmd.Process.Kill() })
	defer guard.Stop()
	var said []string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if lines.Text() == "READY" {
			break
		}
		said = append(said, lines.Text())
	}
	seenOutside(t, s)
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, errs.String())
	}
	all := strings.Join(said, "\n")
	m := regexp.MustCompile(`TRIED (\d+) FOUND 0 PORTS (\d+)$`).FindStringSubmatch(all)
	if m == nil {
		t.Fatalf("%s\n%s", all, errs.String())
	}
	if tried, _ := strconv.Atoi(m[1]); tried < 400 || m[2] == "0" {
		t.Errorf("it did not try: %s", all)
	}
	if !v.got(secretValue) {
		t.Error("the host was not asked with the secret")
	}
	hides(t, "what run said", errs.String())
}

// seenOutside looks at what any process of this machine shows of itself, and at
// the files that run keeps.
func seenOutside(t *testing.T, s *sandbox) {
	t.Helper()
	for _, name := range []string{"cmdline", "environ"} {
		paths, _ := filepath.Glob("/proc/[0-9]*/" + name)
		for _, path := range paths {
			b, _ := os.ReadFile(path)
			if bytes.Contains(b, []byte(secretValue)) {
				t.Errorf("the secret is in %s: %.300q", path, b)
			}
		}
	}
	for _, top := range []string{s.home, s.project} {
		filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				if b, _ := os.ReadFile(path); bytes.Contains(b, []byte(secretValue)) {
					t.Errorf("the secret is in %s", path)
				}
			}
			return nil
		})
	}
}

// The thief finds what is there to be found: without that, finding nothing
// would say nothing.
func TestThiefFinds(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	s.putThief(t)
	s.put("left/token.txt", "a token: "+secretValue[:14]+"\n"+secretValue[14:])
	e := s.with(v, map[string]any{"secrets": []any{v.handed(secretValue, false)}, "env": map[string]string{"LEAK": hex.EncodeToString([]byte(secretValue))}},
		"--write", s.project, "--", "/usr/bin/python3", "thief.py", masked(secretValue), v.host)
	for _, want := range []string{"FOUND the environment", "FOUND /proc/", "FOUND " + s.project + "/left/token.txt"} {
		if !strings.Contains(e.out, want) {
			t.Errorf("the thief does not find %q: %+v", want, e)
		}
	}
}
