package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What wrap writes for a secret's route is for its owner alone. It stays, so that
// the command can be started again, and wrapped again it is the same command.
// What nobody started for long is gone at the next wrap.
func TestWrappedRoutes(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	net := s.proxied()
	net["proxied"].(map[string]any)["proxy"].(map[string]any)["routes"] = []any{map[string]any{
		"name": "api", "env": []string{"VAULT_URL"}, "secret": map[string]any{
			"host": v.host, "header": "authorization", "value": secretValue, "placeholder": "the-placeholder-of-it",
		},
	}}
	request, err := json.Marshal(map[string]any{"confinement": s.confinement(net), "argv": []string{
		"sh", "-c", `curl -sSf -H "Authorization: Bearer the-placeholder-of-it" "$VAULT_URL/echo"; env`}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.home, ".lnk", "sandbox")
	old, used := filepath.Join(dir, "old.routes.json"), filepath.Join(dir, "used.url-secret")
	for path, days := range map[string]int{old: 31, used: 29} {
		at := time.Now().AddDate(0, 0, -days)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	made := s.command(string(request), []string{lnk(), "sandbox", "wrap"})
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("what nobody uses is kept: %v", err)
	}
	if _, err := os.Stat(used); err != nil {
		t.Errorf("what was used is not kept: %v", err)
	}
	if again := s.command(string(request), []string{lnk(), "sandbox", "wrap"}); again.out != made.out {
		t.Errorf("wrapped again it is another command:\n%s\n%s", made.out, again.out)
	}
	var w struct {
		Argv []string
		Env  map[string]string
	}
	if err := json.Unmarshal([]byte(made.out), &w); err != nil {
		t.Fatalf("%+v: %v", made, err)
	}
	hides(t, "wrap's answer", made.out, made.errors)
	files := []string{filepath.Join(dir, "case.routes.json"), filepath.Join(dir, "case.url-secret")}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, info, err)
		}
	}
	env := []string{"SSL_CERT_FILE=" + v.ca}
	for name, value := range w.Env {
		env = append(env, name+"="+value)
	}
	for range 2 {
		at := time.Now().Add(-time.Hour)
		os.Chtimes(files[0], at, at)
		e := s.command("", w.Argv, env...)
		if e.status != 0 || !strings.Contains(e.out, "Bearer the-placeholder-of-it") || !v.got(secretValue) {
			t.Errorf("%+v", e)
		}
		hides(t, "the program's", e.out, e.errors)
		for _, path := range files {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || time.Since(info.ModTime()) > 30*time.Minute {
				t.Errorf("%s: %v %v", path, info, err)
			}
		}
	}
	os.Remove(files[0])
	if e := s.command("", w.Argv, env...); e.status != 2 || !strings.Contains(e.errors, files[0]+": not there any more: have it wrapped again") {
		t.Errorf("without its files: %+v", e)
	}
}

// Once there are secrets in it the proxy's memory is no core dump's and no other
// process's: what has no capability cannot look at it, whoever's it is.
func TestNobodyLooksIntoTheProxy(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("needs an ordinary user: what has no capability may not look at root's in any case")
	}
	s := newSandbox(t)
	v := newVault(t, s)
	looked := func(args ...string) bool {
		t.Helper()
		cmd := exec.Command(lnk()+"-sandbox", append(append([]string{"run", "--yes", "--write", s.project}, args...), "--", "sh", "-c", "echo ready; read line")...)
		cmd.Dir, cmd.Env = s.root, s.env("SSL_CERT_FILE="+v.ca, "VAULT="+secretValue)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer in.Close()
		guard := time.AfterFunc(hangGuard, func() { cmd.Process.Kill() })
		defer guard.Stop()
		if _, err := out.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		exe := "/proc/" + strconv.Itoa(cmd.Process.Pid) + "/exe"
		return exec.Command("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "readlink", exe).Run() == nil
	}
	if !looked("--internet-host", "allowed.test") {
		t.Fatal("a proxy without secrets cannot be looked at: this test would say nothing")
	}
	if looked("--secret", "VAULT="+v.host+":authorization") {
		t.Error("the proxy's memory can be looked at")
	}
}
