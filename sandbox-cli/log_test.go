package cli_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// What was let through and what was refused, by every way in, stands in the
// log with its reason, and nothing secret does.
func TestLog(t *testing.T) {
	s := newSandbox(t)
	ca := s.trusted()
	e := s.run("--write="+s.project, allow, "--", "sh", "-c", strings.Join([]string{
		"curl -sS --cacert " + ca + " 'https://" + labtest.AllowedName + "/hello?token=s3cret'",
		"curl -sS --noproxy '*' -u user:s3cret --cacert " + ca + " https://" + labtest.AllowedName + "/hello",
		"curl -sS 'http://" + labtest.AllowedName + "/hello?token=s3cret'",
		"curl -sSk 'https://" + labtest.OtherName + "/?token=s3cret'",
		"curl -sS --noproxy '*' https://elsewhere.test/",
		"curl -sS --proxy socks5h://${HTTP_PROXY#http://} http://third.test/",
		"exit 3",
	}, "; "))
	if e.status != 3 {
		t.Fatalf("%+v", e)
	}
	out := s.well("log")
	for _, line := range []string{
		`began    process \d+`,
		`allowed  allowed\.test:443 \(connect\): up \d+ B, down [\d.]+ KiB, \d+`,
		`allowed  allowed\.test:443 \(transparent\): up \d+ B, down`,
		`allowed  allowed\.test:80 \(http\): up 0 B, down 24 B`,
		`refused  other\.test:443 \(connect\): no rule names this host; to open it: hosts = \["other\.test"\] or --internet-host other\.test$`,
		`refused  elsewhere\.test \(dns\): no rule names this host; to open it: hosts = \["elsewhere\.test"\] or --internet-host elsewhere\.test$`,
		`refused  third\.test:80 \(socks\): no rule names this host`,
		`ended    status 3`,
	} {
		if !regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  run-\d+  ` + line).MatchString(out) {
			t.Errorf("no line %q in:\n%s", line, out)
		}
	}
	if strings.Contains(out, "s3cret") || strings.Contains(out, "hello") {
		t.Errorf("it holds more than hosts:\n%s", out)
	}
	if last := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]; !strings.Contains(last, "ended") {
		t.Errorf("the last line is %q", last)
	}
	name := strings.Fields(out)[2]
	asJSON := s.well("log", "--json", "-n", "2", name)
	if strings.Count(asJSON, "\n") != 2 {
		t.Errorf("two lines: %q", asJSON)
	}
	for _, line := range strings.Split(strings.TrimSpace(asJSON), "\n") {
		var l struct{ Sandbox, What string }
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Sandbox != name || l.What == "" {
			t.Errorf("%q: %v", line, err)
		}
	}
	if e := s.lnk("log", "../x"); e.status != 2 {
		t.Errorf("a name that is none: %+v", e)
	}
	if out := s.well("log", "nobody"); out != "" {
		t.Errorf("of nobody: %q", out)
	}
}

// What begins ends in the log too, where no program was started.
func TestLogOfWhatDidNotStart(t *testing.T) {
	s := newSandbox(t)
	for _, c := range []struct {
		status int
		args   []string
	}{{125, []string{"--hide=/proc", "--", "true"}}, {127, []string{"--", "no-such-program"}}} {
		e := s.run(append([]string{"--write=" + s.project, allow}, c.args...)...)
		if e.status != c.status || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%q: %+v", c.args, e)
		}
	}
	out := s.well("log")
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if f := strings.Fields(line); len(f) < 4 || f[3] != "began" && !strings.HasSuffix(line, "  ended    its program was not started") {
			t.Errorf("%q", line)
		}
	}
	if began, ended := strings.Count(out, "  began  "), strings.Count(out, "  ended  "); began != 2 || ended != 2 {
		t.Errorf("%d began, %d ended:\n%s", began, ended, out)
	}
}

// A log that is followed shows what is decided while it is decided.
func TestLogIsFollowed(t *testing.T) {
	s := newSandbox(t)
	cmd := exec.Command(lnk(), "sandbox", "log", "-f")
	cmd.Env = s.env()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	s.run("--write="+s.project, allow, "--", "curl", "-sSk", "https://"+labtest.OtherName+"/")
	lines := bufio.NewScanner(out)
	seen := make(chan bool, 1)
	go func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), "refused  other.test:443") {
				seen <- true
			}
		}
	}()
	select {
	case <-seen:
	case <-time.After(hangGuard):
		t.Fatal("nothing is shown")
	}
	cmd.Process.Signal(syscall.SIGINT)
	if status := waitFor(t, cmd); status != 0 {
		t.Errorf("interrupted: status %d", status)
	}
}

// Settings that cannot be written are said once; calls go on.
func TestLogCannotBeWritten(t *testing.T) {
	s := newSandbox(t)
	if err := os.MkdirAll(filepath.Join(s.home, ".lnk", "sandbox"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"log", "traffic"} { // root writes read-only folders, and nobody in a file
		if err := os.WriteFile(filepath.Join(s.home, ".lnk", "sandbox", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := s.run("--write="+s.project, allow, "--", "curl", "-sS", "http://"+labtest.AllowedName+"/hello")
	if e.status != 0 || !strings.Contains(e.out, "hello from") {
		t.Errorf("calls do not go on: %+v", e)
	}
	if strings.Count(e.errors, "cannot be written down") != 1 || strings.Count(e.errors, "\n") != 1 {
		t.Errorf("said %q", e.errors)
	}
}

// A run of a spec is called after it, and by its own name: who asks for the
// spec's is told.
func TestRunsOfASpecAreNamed(t *testing.T) {
	s := newSandbox(t)
	spec := s.put("web.toml", "name = \"web\"\n[network]\nmode = \"proxied\"\nhosts = [\""+labtest.AllowedName+"\"]\n")
	r := s.begin([]string{lnk(), "sandbox", "run", "--yes", "--spec=" + spec, "--", "sh", "-c", "echo here; cat"})
	name := "web-run-" + strconv.Itoa(r.cmd.Process.Pid)
	if e := s.lnk("pause", "web"); e.status != 0 || !strings.HasSuffix(e.errors, "; of its runs: lnk sandbox pause "+name+"\n") {
		t.Errorf("%+v", e)
	}
	s.well("resume", "web")
	s.well("pause", name)
	if e := s.lnk("resume", "web"); e.status != 0 || !strings.HasSuffix(e.errors, "web: was not paused; of its runs: lnk sandbox resume "+name+"\n") {
		t.Errorf("%+v", e)
	}
	s.well("resume", name)
	r.end(t)
	if e := s.lnk("log", "web"); e.status != 0 || !strings.HasSuffix(e.errors, "nothing is kept of web; of its runs: lnk sandbox log "+name+"\n") {
		t.Errorf("%+v", e)
	}
}

// A name that a program gives a file steers no terminal by the log, in either form.
func TestLogSteersNoTerminal(t *testing.T) {
	s := newSandbox(t)
	const steering = "\u009b2J\u202e"
	s.run("--write="+s.project, "--", "sh", "-c", "mkdir -p 'm/"+steering+"'; for i in $(seq 25); do mkdir -p \"m/"+steering+"/$i\"; echo x >\"m/"+steering+"/$i/.envrc\"; done")
	for _, how := range [][]string{{"log"}, {"log", "--json"}} {
		if out := s.well(how...); strings.ContainsAny(out, steering[:2]+"\u202e") || strings.Count(out, "envrc") != 25 {
			t.Errorf("%q: %q", how, out)
		}
	}
}
