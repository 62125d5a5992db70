package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each of these is refused with a line that says where and what, and that
// holds no password.
func TestRequestsSayWhere(t *testing.T) {
	s := newSandbox(t)
	proxy := func(member string) string {
		return `{"confinement": {"name": "web", "write": ["` + s.project + `"], "read": [], "commands": "any", "net": {"proxied": {"proxy": {"upstream": "direct", "dir": "` + s.home + `", ` + member + `}, "ports": []}}}, "argv": ["true"]}`
	}
	for request, want := range map[string]string{
		proxy(`"hosts": ["a.example", "https://u:hunter2@b.example/x"]`): `/confinement/net/proxied/proxy/hosts/1: "https://...@b.example/x": an address, of which a rule has the host alone: write b.example`,
		proxy(`"hosts": ["2001:db8::1"]`):                                `/confinement/net/proxied/proxy/hosts/0: "2001:db8::1": not in normal form: write [2001:db8::1]`,
		proxy(`"hosts": [], "tcp": ["a.example:22", "b.example"]`):       `/confinement/net/proxied/proxy/tcp/1: "b.example": no port`,
		proxy(`"hosts": [], "caller": {"sandbox": "web", "key": "abcdefghijklmnop"}, "secret": "ABCDEFGHIJKLMNOP", "routes": [{"name": "t", "tool": {"argv": ["/bin/true"], "ask": "none", "allow": []}}, {"name": "s", "secret": {"host": "A.example", "header": "x-key", "value": "hunter2hunter2", "placeholder": "PLACEHOLDER"}}]`): `/confinement/net/proxied/proxy/routes/1/secret/host: "A.example:443": not in normal form: write a.example:443`,
		strings.Replace(proxy(`"hosts": []`), s.home, s.project, 1): `/confinement/net/proxied/proxy/dir: `,
	} {
		e := s.command(request, []string{lnk(), "sandbox", "wrap"})
		if e.status != 2 || e.out != "" || !strings.Contains(e.errors, want) || strings.Contains(e.errors, "hunter2") || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%s\nstatus %d, out %q, errors %q", request, e.status, e.out, e.errors)
		}
	}
}

// A spec is text that editors write: a mark in front of it is nothing, and
// another encoding is said to be one.
func TestSpecsOfEditors(t *testing.T) {
	s := newSandbox(t)
	for text, want := range map[string]string{
		"\xef\xbb\xbfname = \"x\"\r\n[network]\r\nmode = \"closed\"\r\n": "",
		"\xff\xfen\x00a\x00m\x00e\x00":                                   "not UTF-8 text",
		"n\x00a\x00m\x00e\x00":                                           "not UTF-8 text",
		"name = \"caf\xe9\"\n":                                           "not UTF-8 text",
	} {
		e := s.run("--spec="+s.put("spec.toml", text), "--write="+s.project, "--", "true")
		if want == "" && e.status != 0 || want != "" && (e.status != 125 || !strings.Contains(e.errors, want)) {
			t.Errorf("%q: status %d, errors %q", text, e.status, e.errors)
		}
	}
	e := s.run("--spec="+s.put("spec.json", "\xef\xbb\xbf{\"name\": \"x\"}"), "--write="+s.project, "--", "true")
	if e.status != 0 {
		t.Errorf("JSON: status %d, errors %q", e.status, e.errors)
	}
}

// A spec comes through a pipe as it does from a file: all of it holds, and its
// paths are relative to the current folder.
func TestSpecOfAPipe(t *testing.T) {
	s := newSandbox(t)
	s.put("spec.toml", "[files]\nwrite = [\".\"]\n[limits]\ntmp = \"1M\"\n")
	full := `echo here > made; head -c 3000000 /dev/zero > /tmp/much && echo unlimited`
	for how, words := range map[string]string{
		"a pipe": `"$1" sandbox run --yes --spec <(cat spec.toml) -- sh -c "$2"`,
		"input":  `"$1" sandbox run --yes --spec /dev/stdin -- sh -c "$2" < spec.toml`,
	} {
		e := s.command("", []string{"bash", "-c", words, "bash", lnk(), full})
		if made, _ := os.ReadFile(filepath.Join(s.project, "made")); string(made) != "here\n" || e.out != "" || !strings.Contains(e.errors, "No space left") {
			t.Errorf("%s: made %q, out %q, errors %q", how, made, e.out, e.errors)
		}
		if err := os.Remove(filepath.Join(s.project, "made")); err != nil {
			t.Error(err)
		}
	}
	e := s.command("", []string{"bash", "-c", `"$1" sandbox run --yes --spec <(false) -- true`, "bash", lnk()})
	if e.status != 125 || !strings.Contains(e.errors, "nothing came through this pipe") {
		t.Errorf("an empty pipe: status %d, errors %q", e.status, e.errors)
	}
}
