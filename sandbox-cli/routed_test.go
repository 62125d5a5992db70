package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

const routeValue = "tok-0123456789-value"

func routedConfinement(t *testing.T) client.Confinement {
	t.Helper()
	text := `{"confinement":{"name":"web","write":["/home/u/w"],"write_dot_files":[],"read":[],"commands":"any","developer_tools":false,
	"net":{"proxied":{"ports":[],"proxy":{"upstream":"direct","dir":"/home/u/px","hosts":[],
	"routes":[{"name":"api","env":["API_URL"],"secret":{"host":"api.example","header":"authorization","value":"` + routeValue + `","placeholder":"tok-placeholder-00000"}},
	{"name":"m","local_model":{"port":11434}}]}}}},"argv":["true"]}`
	request, err := client.ReadWrapRequest(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return *request.Confinement
}

// What wrap writes and what run hands hold the secrets; the argv and the
// environment do not, and it is one or the other.
func TestRoutesInFiles(t *testing.T) {
	made, err := chainOf(routedConfinement(t), []string{"true"}, testSetting)
	if err != nil {
		t.Fatal(err)
	}
	routesIn, secretIn := "/home/u/.lnk/sandbox/web.routes.json", "/home/u/.lnk/sandbox/web.url-secret"
	words := strings.Join(made.argv, " ")
	if !strings.Contains(words, "--routes "+routesIn+" --url-secret "+secretIn) || strings.Contains(words, "--routes-handed") {
		t.Error(words)
	}
	mounts, err := route.ReadMounts(strings.NewReader(made.files[routesIn]))
	if err != nil || len(mounts.Routes) != 2 || mounts.Caller.Sandbox != "web" || mounts.URLSecret != "" {
		t.Errorf("%+v %v", mounts, err)
	}
	secret := strings.TrimSpace(made.files[secretIn])
	base := "http://127.0.0.1:19190"
	if got := made.env["API_URL"]; got != base+"/"+secret+"/secret/api" || len(secret) < 16 {
		t.Error(got)
	}
	if got := made.env["LNK_LOCAL_MODEL_11434"]; got != base+"/local_model/m" {
		t.Error(got)
	}
	env, _ := json.Marshal(made.env)
	for _, text := range []string{words, string(env)} {
		if strings.Contains(text, routeValue) || strings.Contains(text, mounts.Caller.Key) {
			t.Errorf("holds a secret: %s", text)
		}
	}
	if strings.Contains(words, secret) {
		t.Error("the argv holds the URL secret")
	}
}

func TestRoutesHanded(t *testing.T) {
	s := testSetting
	s.hand = true
	made, err := chainOf(routedConfinement(t), []string{"true"}, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.files) != 0 || !slices.Contains(made.argv, "--routes-handed") || slices.Contains(made.argv, "--routes") {
		t.Errorf("%v %v", made.files, made.argv)
	}
	if err := made.handOver(); err != nil {
		t.Fatal(err)
	}
	f, _, err := parseProxyFlags(made.argv[2:])
	if err != nil {
		t.Fatal(err)
	}
	env, err := f.take([]string{"A=b", handedVariable + "=9"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(env, []string{"A=b"}) || os.Getenv(handedVariable) != "" {
		t.Error("the variable is passed on", env)
	}
	if f.mounts.URLSecret == "" || len(f.mounts.Routes) != 2 {
		t.Errorf("%+v", f.mounts)
	}
}

func TestRoutesAreTakenOneWay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte(`{"routes":[],"caller":{"sandbox":"web","key":"k"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--routes", file, "--routes-handed", "X"},
		{"--url-secret", file},
		{"--routes-handed", "LNK_NOT_THERE"},
		{"--routes", filepath.Join(dir, "none")},
		{"--routes", file, "--url-secret", file},
	} {
		f, _, err := parseProxyFlags(append(append([]string{"--proxy-port", "1", "--settings", "/s"}, args...), "--", "true"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.take(nil); err == nil || strings.Contains(err.Error(), "sandbox\":") {
			t.Errorf("%v: %v", args, err)
		}
	}
	open, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := keep(open)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LNK_SANDBOX_TEST", strconv.Itoa(fd))
	r := routed{handedBy: "LNK_SANDBOX_TEST"}
	if _, err := r.take(nil); err == nil || !strings.Contains(err.Error(), "not a pipe") {
		t.Error("a file is taken for a pipe: ", err)
	}
}
