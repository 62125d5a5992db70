package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const modelKey = "sk-real-0123456789abcdef"

// A fakeAPI answers as model APIs do, and notes what it was asked with.
type fakeAPI struct {
	mu    sync.Mutex
	asked []string
	next  chan struct{}
}

func (a *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.asked = append(a.asked, fmt.Sprintf("%s %s host=%s auth=%q key=%q caller=%q", r.Method, r.RequestURI, r.Host,
		r.Header["Authorization"], r.Header["X-Api-Key"], r.Header["Lnk-Caller"]))
	a.mu.Unlock()
	var ask struct{ Stream bool }
	json.Unmarshal(body, &ask)
	switch {
	case r.URL.Path == "/next":
		a.next <- struct{}{}
	case strings.HasSuffix(r.URL.Path, "/messages") && ask.Stream:
		a.stream(w, `{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":30,"output_tokens":1}}}`,
			`{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`)
	case ask.Stream:
		a.stream(w, `{"choices":[{"index":0,"delta":{"content":"Hi"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
	case strings.HasSuffix(r.URL.Path, "/models"):
		io.WriteString(w, `{"data":[]}`)
	default:
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Hi"}}],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}`)
	}
}

// stream sends the next event when the program has said that it has the last.
func (a *fakeAPI) stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", e)
		w.(http.Flusher).Flush()
		select {
		case <-a.next:
		case <-time.After(hangGuard):
			return
		}
	}
}

func (a *fakeAPI) saw() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.asked, "\n")
}

// startAPI serves it on this machine's loopback, or on a unix socket.
func startAPI(t *testing.T, network, at string) (*fakeAPI, net.Addr) {
	t.Helper()
	ln, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	a := &fakeAPI{next: make(chan struct{})}
	s := &http.Server{Handler: a}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
	return a, ln.Addr()
}

// asker asks as a model's own library does, with the standard library alone:
// its base address is in a variable, its key is its own. Events are told of as
// they come, and the API is told so.
const asker = `import json, os, sys, urllib.request as u
base, next = os.environ[sys.argv[1]], sys.argv[3]
o = u.build_opener(u.ProxyHandler({}))
def ask(path, body=None, **h):
    h.update({"Content-Type": "application/json", "Authorization": "Bearer mine", "X-Api-Key": "mine"})
    return o.open(u.Request(base + path, json.dumps(body).encode() if body else None, h), timeout=40)
for line in sys.argv[4:]:
    path, stream = line.split(",")
    if stream == "get": print("got", json.load(ask(path))["data"]); continue
    r = ask(path, {"model": "m", "stream": stream == "yes"})
    if stream != "yes": print(json.load(r)["choices"][0]["message"]["content"]); continue
    for event in r:
        if event.startswith(b"data: "):
            print(event.decode().strip()[:40])
            o.open(base.split("/v1")[0] + next, timeout=40).read()
print("end", flush=True)
if sys.argv[2] == "wait": sys.stdin.readline()
`

func TestLocalModel(t *testing.T) {
	s := newSandbox(t)
	s.put("asker.py", asker)
	api, addr := startAPI(t, "tcp", "127.0.0.1:0")
	port := strconv.Itoa(addr.(*net.TCPAddr).Port)
	spec := s.put("sandbox.toml", "[files]\nwrite = [\".\"]\n[network]\nmode = \"proxied\"\nno_internet = true\nlocal_models = ["+port+"]\n")
	for _, grant := range [][]string{{"--write=" + s.project, "--local-model", port}, {"--spec", spec}} {
		out := s.must(append(grant, "--", "/usr/bin/python3", "asker.py", "LNK_LOCAL_MODEL_"+port, "go", "/next", "/v1/chat/completions,no", "/v1/chat/completions,yes", "/v1/models,get")...)
		if !strings.HasPrefix(out, "Hi\ndata: {") || !strings.HasSuffix(out, "data: [DONE]\ngot []\nend\n") {
			t.Errorf("%v: %s", grant, out)
		}
		// The port itself is not reached, nor by the proxy as a host.
		e := s.run(append(grant, "--", "sh", "-c", "curl -sS --noproxy '*' http://127.0.0.1:"+port+"/; curl -sS -o /dev/null -w '%{http_code}\n' --proxy \"$HTTP_PROXY\" --noproxy '' http://127.0.0.1:"+port+"/; "+
			"curl -sS -o /dev/null -w '%{http_code}\n' -H 'Host: evil.example' \"$LNK_LOCAL_MODEL_"+port+"/v1/models\"")...)
		if e.out != "403\n404\n" {
			t.Errorf("%v: %s%s", grant, e.out, e.errors)
		}
	}
	if saw := api.saw(); strings.Contains(saw, "caller=[\"") || strings.Count(saw, "host=localhost:"+port+" ") != strings.Count(saw, "host=") {
		t.Error(saw)
	}
	if e := s.run("--local-model", "70000", "--", "true"); e.status != 125 || !strings.Contains(e.errors, "--local-model 70000") {
		t.Error(e)
	}
}

// routed is a net with these routes and no internet.
func (s *sandbox) routed(routes ...map[string]any) map[string]any {
	net := s.proxied()
	proxy := net["proxied"].(map[string]any)["proxy"].(map[string]any)
	proxy["no_internet"], proxy["routes"] = true, routes
	return net
}

// A model's API is asked with a key that the program never has, and what the
// answers used is published while the sandbox runs.
func TestModelRoute(t *testing.T) {
	s := newSandbox(t)
	s.put("asker.py", asker)
	api, addr := startAPI(t, "tcp", "127.0.0.1:0")
	at := "http://" + addr.String()
	net := s.routed(
		map[string]any{"name": "chat", "secret": true, "model": map[string]any{"provider": "openai", "upstream": at + "/v1", "header": "Authorization", "value": "Bearer " + modelKey}},
		map[string]any{"name": "talk", "model": map[string]any{"provider": "anthropic", "upstream": at, "header": "x-api-key", "value": modelKey}},
	)
	k := s.wrappedTalk(s.confinement(net), "sh", "-c", `
		/usr/bin/python3 asker.py OPENAI_BASE_URL go /../next /chat/completions,no /models,get 2>&1
		/usr/bin/python3 asker.py OPENAI_BASE_URL go /next /v1/chat/completions,no 2>&1
		/usr/bin/python3 asker.py ANTHROPIC_BASE_URL go /next /v1/messages,yes /v1/messages/count_tokens,no 2>&1
		cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n' | grep -c 'sk-rea[l]-0123'
		find / -xdev -type f -size -64k \( -name '*.json' -o -name '*secret*' \) -exec grep -l 'sk-rea[l]-0123' {} + 2>/dev/null
		echo end; read line`)
	var said []string
	for ends := 0; ends < 4; {
		line := k.hear()
		said = append(said, line)
		if line == "end" {
			ends++
		} else if line == "" {
			t.Fatal(said)
		}
	}
	want := []string{"Hi", "got []", "end", "Hi", "end"}
	for i, w := range want {
		if said[i] != w {
			t.Fatalf("%q, want %q", said, want)
		}
	}
	if tail := strings.Join(said[len(said)-5:], "|"); tail != `data: {"type":"message_stop"}|Hi|end|0|end` {
		t.Errorf("%q", said)
	}
	s.tokens(k, `"tokens":{"requests":3,"unmetered":0,"input":54,"output":9,"cached":30,"written":0}`)
	table := s.well("traffic")
	if lines := strings.Split(table, "\n"); len(lines) < 2 || strings.Join(strings.Fields(lines[0])[4:], " ") != "ANSWERS UNMETERED INPUT OUTPUT CACHED WRITTEN" ||
		!strings.HasSuffix(strings.Join(strings.Fields(lines[1]), " "), "3 0 54 9 30 0") {
		t.Error(table)
	}
	fmt.Fprintln(k.in, "go")
	saw := api.saw()
	for _, line := range strings.Split(saw, "\n") {
		openAI := strings.Contains(line, `auth=["Bearer `+modelKey+`"] key=[]`)
		anthropic := strings.Contains(line, `auth=[] key=["`+modelKey+`"]`)
		if !openAI && !anthropic || !strings.Contains(line, "host="+addr.String()+" ") || !strings.Contains(line, "caller=[]") {
			t.Errorf("the API saw %s", line)
		}
	}
	if strings.Count(saw, "POST /v1/chat/completions ") != 2 || strings.Count(saw, "POST /v1/messages ") != 1 {
		t.Error(saw)
	}
}

// tokens waits until what is published of the sandbox holds this.
func (s *sandbox) tokens(k *talk, want string) {
	s.t.Helper()
	var got string
	for end := time.Now().Add(hangGuard); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = s.well("traffic", "--json"); strings.Contains(got, want) {
			return
		}
	}
	s.t.Errorf("published in the end: %s", got)
}

// wrappedTalk starts what wrap gives and listens to it.
func (s *sandbox) wrappedTalk(confinement map[string]any, argv ...string) *talk {
	s.t.Helper()
	request, err := json.Marshal(map[string]any{"confinement": confinement, "argv": argv})
	if err != nil {
		s.t.Fatal(err)
	}
	made := s.command(string(request), []string{lnk(), "sandbox", "wrap"})
	var w struct {
		Argv []string
		Env  map[string]string
	}
	if err := json.Unmarshal([]byte(made.out), &w); err != nil {
		s.t.Fatalf("wrap printed %q, %s: %v", made.out, made.errors, err)
	}
	cmd := exec.Command(w.Argv[0], w.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.project, s.env(), os.Stderr
	for name, value := range w.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return s.talking(cmd)
}

// A person's run is given a model by its provider's name. The key is taken from
// the person's environment or from a file, and the program gets what is none.
func TestRunWithModels(t *testing.T) {
	s := newSandbox(t)
	s.put("asker.py", asker)
	api, addr := startAPI(t, "tcp", "127.0.0.1:0")
	at := "http://" + addr.String()
	keyFile := filepath.Join(s.root, "key")
	if err := os.WriteFile(keyFile, []byte(modelKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project,
		"--model", "openai=" + at + "/v1", "--model", "anthropic=" + at, "--model-from", "anthropic=file:" + keyFile, "--", "sh", "-c", `
		/usr/bin/python3 asker.py OPENAI_BASE_URL go /next /chat/completions,no 2>&1
		/usr/bin/python3 asker.py ANTHROPIC_BASE_URL go /next /v1/messages,yes 2>&1
		echo ${#OPENAI_API_KEY} ${#ANTHROPIC_API_KEY}
		cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n' | grep -c 'sk-rea[l]-0123'`}, "OPENAI_API_KEY="+modelKey)
	if n := strconv.Itoa(len(modelKey)); !strings.HasPrefix(e.out, "Hi\nend\ndata: {") || !strings.HasSuffix(e.out, "end\n"+n+" "+n+"\n0\n") {
		t.Errorf("%d %s%s", e.status, e.out, e.errors)
	}
	for _, line := range strings.Split(api.saw(), "\n") {
		if strings.Count(line, modelKey) != 1 {
			t.Errorf("the API saw %s", line)
		}
	}
	for want, args := range map[string][]string{
		"want one of anthropic, google, openai":   {"--model", "other"},
		"OPENAI_API_KEY":                          {"--model", "openai"},
		"no --model has this name":                {"--model-from", "openai=env:HOME"},
		"http:// only on this machine's loopback": {"--model", "openai=http://model.example/v1", "--model-from", "openai=file:" + keyFile},
	} {
		if e := s.run(append(args, "--", "true")...); e.status == 0 || !strings.Contains(e.errors, want) || strings.Contains(e.errors, modelKey) {
			t.Errorf("%v: %d %s", args, e.status, e.errors)
		}
	}
}

// What another plugin serves on a unix socket is told who calls, and the
// program is not.
func TestBridgeRoute(t *testing.T) {
	s := newSandbox(t)
	s.put("asker.py", asker)
	dir := filepath.Join(s.root, "plugin")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "p.sock")
	api, _ := startAPI(t, "unix", at)
	net := s.routed(map[string]any{"name": "p", "secret": true, "env": []string{"PLUGIN_URL"}, "bridge": map[string]any{"socket": at}})
	net["proxied"].(map[string]any)["proxy"].(map[string]any)["caller"] = map[string]any{"sandbox": "case", "key": "bridge-key-0123"}
	e := s.wrapped(s.confinement(net), "sh", "-c", `
		/usr/bin/python3 asker.py PLUGIN_URL go /next /x,no /x,yes 2>&1
		curl -sS -o /dev/null -H 'Lnk-Caller: evil' "$PLUGIN_URL/y"
		cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n' | grep -c 'bridge-ke[y]'
		ls `+dir+` 2>&1 | grep -c p.sock`)
	if e.status != 1 || !strings.HasPrefix(e.out, "Hi\ndata: {") || !strings.HasSuffix(e.out, "data: [DONE]\nend\n0\n0\n") {
		t.Errorf("%d %s%s", e.status, e.out, e.errors)
	}
	if saw := api.saw(); strings.Count(saw, `caller=["case"]`) != strings.Count(saw, "caller=") || strings.Contains(saw, "evil") {
		t.Error(saw)
	}
	// One that the program could serve itself is refused.
	net = s.routed(map[string]any{"name": "p", "env": []string{"PLUGIN_URL"}, "bridge": map[string]any{"socket": filepath.Join(s.project, "p.sock")}})
	if e := s.wrapped(s.confinement(net), "true"); e.status != 2 || !strings.Contains(e.errors, "/bridge/socket") {
		t.Errorf("%d %s", e.status, e.errors)
	}
}
