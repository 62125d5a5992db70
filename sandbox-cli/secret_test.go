package cli_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const secretValue = "ghp_Q1w2E3r4T5y6U7i8O9p0aSdF"

// A vault is an https host of this machine that wants a secret, and says what it
// was sent wherever it is asked to.
type vault struct {
	*httptest.Server
	host string // 127.0.0.1:<port>
	ca   string // its certificate's file, outside the sandbox
	bare string // the repository that it serves as /git/private.git

	mu   sync.Mutex
	sent []string // each Authorization
}

func newVault(t testing.TB, s *sandbox) *vault {
	t.Helper()
	v := &vault{bare: filepath.Join(s.root, "git", "private.git")}
	execPath, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(s.root, "work")
	for _, argv := range [][]string{
		{"git", "init", "-q", "--bare", v.bare}, {"git", "-C", v.bare, "config", "http.receivepack", "true"},
		{"git", "init", "-q", work},
		{"git", "-C", work, "-c", "user.name=v", "-c", "user.email=v@v.test", "commit", "-q", "--allow-empty", "-m", "first"},
		{"git", "-C", work, "push", "-q", v.bare, "HEAD:refs/heads/main"}, {"git", "-C", v.bare, "symbolic-ref", "HEAD", "refs/heads/main"},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v %s", argv, err, out)
		}
	}
	git := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(execPath)), "git-http-backend"), Root: "/git", Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(v.bare), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=v"},
	}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization")
		v.mu.Lock()
		v.sent = append(v.sent, sent)
		v.mu.Unlock()
		token := strings.TrimPrefix(sent, "Bearer ")
		if sent == "" {
			token = r.URL.Query().Get("key")
		}
		if user, password, ok := r.BasicAuth(); ok {
			token = user + password
		}
		switch {
		case !strings.Contains(token, secretValue):
			w.Header().Set("WWW-Authenticate", `Basic realm="vault"`)
			http.Error(w, "no", http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/git/"):
			git.ServeHTTP(w, r)
		case r.URL.Path == "/away":
			w.Header().Set("Location", "https://elsewhere.test/?token="+token)
			w.WriteHeader(302)
		case r.URL.Path == "/here":
			w.Header().Set("Location", "https://"+r.Host+"/echo")
			w.WriteHeader(302)
		case r.URL.Path == "/pieces":
			for i := range sent {
				io.WriteString(w, sent[i:i+1])
				http.NewResponseController(w).Flush()
			}
		case r.URL.Path == "/ranges":
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(sent))
		default:
			w.Header().Set("X-Echo", sent)
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s\n%s\n%x\n%s\n%s %s\n", sent, base64.StdEncoding.EncodeToString([]byte(token)), token, body, r.RequestURI, r.Header)
		}
	}))
	v.Config.ErrorLog = log.New(io.Discard, "", 0)
	v.StartTLS()
	t.Cleanup(v.Close)
	v.host = v.Listener.Addr().String()
	v.ca = filepath.Join(s.root, "vault.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: v.Certificate().Raw})
	if err := os.WriteFile(v.ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *vault) got(part string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Contains(strings.Join(v.sent, "\n"), part)
}

// with runs `lnk sandbox run --yes --with-fd 3`, handed this on a pipe.
func (s *sandbox) with(v *vault, with map[string]any, args ...string) ended {
	s.t.Helper()
	for name, none := range map[string]any{"env": map[string]string{}, "secrets": []any{}, "serve": []int{}, "write": []string{}} {
		if _, ok := with[name]; !ok {
			with[name] = none
		}
	}
	text, err := json.Marshal(with)
	if err != nil {
		s.t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	go func() { w.Write(text); w.Close() }()
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), hangGuard)
	defer cancel()
	cmd := exec.CommandContext(ctx, lnk(), append([]string{"sandbox", "run", "--yes", "--with-fd", "3"}, args...)...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = s.project, s.env("SSL_CERT_FILE="+v.ca), []*os.File{r}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run()
	if ctx.Err() != nil {
		s.t.Fatalf("%q did not end; it said %s", args, errs.String())
	}
	return ended{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// handed is a secret as RunWith has it.
func (v *vault) handed(value string, git bool) map[string]any {
	return map[string]any{
		"secret": map[string]any{"host": v.host, "header": "Authorization", "value": value},
		"url":    "VAULT_URL", "placeholder": "VAULT_TOKEN", "git": git,
	}
}

// hides says that none of the texts holds the secret, in whatever form it was.
func hides(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		low := strings.ToLower(text)
		for _, form := range []string{secretValue, secretValue[4:], fmt.Sprintf("%x", secretValue)} {
			if strings.Contains(low, strings.ToLower(form)) {
				t.Errorf("%s: the secret is in it: %.2000s", what, text)
			}
		}
		for _, word := range strings.Fields(text) {
			word = strings.Trim(word, `"'<>,[]`)
			for cut := range min(4, len(word)) {
				b, _ := base64.StdEncoding.DecodeString(word[cut:])
				if bytes.Contains(b, []byte(secretValue[3:len(secretValue)-3])) {
					t.Errorf("%s: the secret is in %s", what, word)
				}
			}
		}
	}
}

// A client inside uses the secret, and gets its placeholder back.
func TestSecretIsUsedAndNotSeen(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	e := s.with(v, map[string]any{"secrets": []any{v.handed(secretValue, false)}, "env": map[string]string{"MINE": "yes"}},
		"--", "sh", "-c", `echo "$MINE $VAULT_TOKEN"; curl -sSi -H "Authorization: Bearer $VAULT_TOKEN" "$VAULT_URL/echo"; curl -sS -u "me:$VAULT_TOKEN" "$VAULT_URL/echo"`)
	if e.status != 0 || strings.Count(e.out, "HTTP/1.1 200") != 1 || !strings.HasPrefix(e.out, "yes ghp_") {
		t.Fatalf("%+v", e)
	}
	hides(t, "what the program was told", e.out, e.errors)
	token := strings.Fields(e.out)[1]
	if len(token) != len(secretValue) || !strings.Contains(e.out, "Bearer "+token) || strings.Contains(e.out, "no\n") {
		t.Errorf("%s: %s", token, e.out)
	}
	if !v.got("Bearer "+secretValue) || !v.got("Basic ") {
		t.Error("the host was not asked")
	}
	again := s.with(v, map[string]any{"secrets": []any{v.handed(secretValue, false)}}, "--", "sh", "-c", "echo $VAULT_TOKEN")
	if strings.TrimSpace(again.out) == token || again.status != 0 {
		t.Errorf("the placeholder is the last run's: %+v", again)
	}
	if left, err := filepath.Glob(filepath.Join(s.home, ".lnk", "sandbox", "*.routes.json")); err != nil || len(left) > 0 {
		t.Errorf("routes were written to %q", left)
	}
}

// Real git clones and pushes with a token that the sandbox never sees, told by
// RunWith's git and by a person's flags.
func TestGitWithASecret(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	script := `set -e
git clone -q https://` + v.host + `/git/private.git "$1"
cd "$1"
git -c user.name=in -c user.email=in@in.test commit -q --allow-empty -m "from inside $1"
git push -q origin HEAD:refs/heads/main
git remote -v; git config -l; env`
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("x:"+secretValue))
	for name, run := range map[string]func() ended{
		"handed": func() ended {
			return s.with(v, map[string]any{"secrets": []any{v.handed(basic, true)}}, "--write", s.project, "--", "sh", "-c", script, "sh", "handed")
		},
		"flags": func() ended {
			return s.command("", []string{lnk(), "sandbox", "run", "--yes", "--write", s.project, "--secret", "GH=" + v.host + ":authorization:Basic git:{}",
				"--", "sh", "-c", script, "sh", "flags"}, "SSL_CERT_FILE="+v.ca, "GH="+secretValue)
		},
	} {
		e := run()
		if e.status != 0 {
			t.Errorf("%s: %+v", name, e)
			continue
		}
		hides(t, name, e.out, e.errors)
		log, err := exec.Command("git", "--git-dir", v.bare, "log", "-1", "--format=%s", "main").CombinedOutput()
		if err != nil || strings.TrimSpace(string(log)) != "from inside "+name {
			t.Errorf("%s: the host has %q %v", name, log, err)
		}
		filepath.Walk(filepath.Join(s.project, name), func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				b, _ := os.ReadFile(path)
				hides(t, path, string(b))
			}
			return nil
		})
	}
}

// A person's secret comes from the environment, a file or a command, and shows
// in nothing that another process can look at.
func TestSecretFrom(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	file := filepath.Join(s.root, "token")
	if err := os.WriteFile(file, []byte(secretValue+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"file": "file:" + file, "command": "command:cat " + file, "environment": "env:SOME_TOKEN"} {
		e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--secret", "api-key=" + v.host + ":authorization", "--secret-from", "api-key=" + from,
			"--", "sh", "-c", `env; curl -sSf -H "Authorization: Bearer $API_KEY" "$API_KEY_URL/echo"`}, "SSL_CERT_FILE="+v.ca, "SOME_TOKEN="+secretValue)
		if e.status != 0 || !strings.Contains(e.out, "API_KEY_URL=http://127.0.0.1:") {
			t.Errorf("%s: %+v", name, e)
		}
		hides(t, name, e.out, e.errors)
	}
	for _, c := range []struct{ secret, from, says string }{
		{"a=h.test:x-key", "a=env:NOT_THERE", "the secret a: the variable"},
		{"a=h.test:x-key", "a=file:" + s.root + "/none", "no such file"},
		{"a=h.test:x-key", "a=command:exit 3", "exit status 3"},
		{"a=h.test:x-key", "a=command:echo short", "shorter than 8"},
		{"a=h.test:x-key", "a=echo x", "want env:"},
		{"a=h.test:x-key", "b=env:SOME_TOKEN", "no --secret has this name"},
		{"a=h.test:x-key", "a=command:printf 'a\\nb and more'", "printable ASCII"},
		{"a=h.test", "a=env:SOME_TOKEN", "want <name>=<host>:<header>"},
		{"a=h.test:?", "a=env:SOME_TOKEN", "want the name of one member"},
		{"a=h.test:?k=v w", "a=env:SOME_TOKEN", "want the name of one member"},
		{"a=:?k", "a=env:SOME_TOKEN", "want <name>=<host>:<header>"},
		{"a=h.test:x-key:Bearer", "a=env:SOME_TOKEN", "a template holds {}"},
		{"path=h.test:x-key", "path=env:SOME_TOKEN", "lnk sandbox run sets it itself"},
		{"a=h.test:host", "a=env:SOME_TOKEN", "a header of the connection"},
	} {
		e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--secret", c.secret, "--secret-from", c.from, "--", "true"}, "SOME_TOKEN="+secretValue)
		if e.status != 125 || !strings.Contains(e.errors, c.says) {
			t.Errorf("%s %s: %+v, want %q", c.secret, c.from, e, c.says)
		}
		hides(t, "a refusal", e.errors)
	}
}

// A secret in a member of the query, and on some paths alone.
func TestSecretInTheQuery(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--secret", "maps=" + v.host + ":?key", "--secret-path", "maps=/v1/", "--secret-path", "maps=/one",
		"--", "sh", "-c", `env; for at in /v1/x /one /one/x /v2 /v1/../v2 /v1%2f..%2fv2 /v1//x; do
			echo "$at $(curl -sS --path-as-is -o out -w '%{http_code}' "$MAPS_URL$at?key=$MAPS")"; cat out; done
			curl -sS "$MAPS_URL/v1/x?key=mine"; curl -sS "$MAPS_URL/v1/x?key=$MAPS&key=$MAPS"; curl -sS -H "Authorization: Bearer $MAPS" "$MAPS_URL/v1/x"`},
		"SSL_CERT_FILE="+v.ca, "maps="+secretValue)
	hides(t, "the program's", e.out, e.errors)
	for at, status := range map[string]string{"/v1/x": "200", "/one": "200", "/one/x": "403", "/v2": "403", "/v1/../v2": "403", "/v1%2f..%2fv2": "403", "/v1//x": "403"} {
		if !strings.Contains(e.out, at+" "+status+"\n") {
			t.Errorf("%s is not answered by %s: %s%s", at, status, e.out, e.errors)
		}
	}
	if n := strings.Count(e.out, "the query's member key holds something else"); n != 2 {
		t.Errorf("%d of two requests with another key are refused so: %s", n, e.out)
	}
	for flags, says := range map[string]string{
		"--secret-path=b=/x":         "--secret-path \"b\": no --secret has this name",
		"--secret-path=maps=x":       "--secret-path \"maps=x\": want <name>=<path>",
		"--secret-path=/x":           "--secret-path \"/x\": want <name>=<path>",
		"--secret-path=maps=/x?y":    "want a path from /",
		"--secret-path=maps=/x/../y": "holds a dot segment",
	} {
		e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--secret", "maps=" + v.host + ":?key", flags, "--", "true"}, "maps="+secretValue)
		if e.status != 125 || !strings.Contains(e.errors, says) || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%s: %+v", flags, e)
		}
	}
}

// What is handed with a run is refused whole where a part of it is.
func TestHandedIsRefused(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	for says, with := range map[string]map[string]any{
		"/env/LD_PRELOAD: it makes":               {"env": map[string]string{"LD_PRELOAD": "/x"}},
		"/env/HTTPS_PROXY: the sandbox sets":      {"env": map[string]string{"HTTPS_PROXY": "x"}},
		"/env/PATH: lnk sandbox run sets":         {"env": map[string]string{"PATH": "x"}},
		"/secrets/0/url: ":                        {"secrets": []any{v.handed(secretValue, false)}, "env": map[string]string{"VAULT_URL": "x"}},
		"/secrets/0/git: not beside GIT_CONFIG_X": {"secrets": []any{v.handed(secretValue, true)}, "env": map[string]string{"GIT_CONFIG_X": "x"}},
		"the home folder":                         {"write": []string{s.home}},
		"/serve/0: ":                              {"serve": []int{0}},
		"/more: unknown":                          {"more": 1},
	} {
		if e := s.with(v, with, "--", "true"); e.status != 125 || !strings.Contains(e.errors, says) {
			t.Errorf("%+v, want %q", e, says)
		} else {
			hides(t, "a refusal", e.errors)
		}
	}
	for fd, says := range map[string]string{"1": "want a descriptor", "77": "nothing is open there"} {
		if e := s.run("--with-fd", fd, "--", "true"); e.status != 125 || !strings.Contains(e.errors, says) {
			t.Errorf("%s: %+v", fd, e)
		}
	}
	if e := s.with(v, map[string]any{"write": []string{s.project}}, "--", "sh", "-c", "echo x > made"); e.status != 0 {
		t.Errorf("a folder that was handed is not written: %+v", e)
	}
}

// Where nothing else is opened, nothing else is reached; and a port that is
// handed with a run is served.
func TestHandedAlone(t *testing.T) {
	s := newSandbox(t)
	v := newVault(t, s)
	e := s.with(v, map[string]any{"secrets": []any{v.handed(secretValue, false)}}, "--", "sh", "-c",
		`curl -sSf -H "Authorization: Bearer $VAULT_TOKEN" "$VAULT_URL/echo" >/dev/null && echo used
curl -sk --max-time 20 -o /dev/null -w '%{http_connect}\n' https://allowed.test/; curl -sk --max-time 20 https://`+v.host+`/ || echo not directly`)
	if e.status != 0 || e.out != "used\n403\nnot directly\n" {
		t.Errorf("%+v", e)
	}
	// It is served as --serve serves it: one that is taken is not.
	taken := v.Listener.Addr().(*net.TCPAddr).Port
	e = s.with(v, map[string]any{"serve": []int{taken}}, "--", "true")
	if want := fmt.Sprintf("serve: port %d: address already in use", taken); e.status != 125 || !strings.Contains(e.errors, want) {
		t.Errorf("%+v", e)
	}
}
