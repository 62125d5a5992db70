package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// hostsIn gives the hosts of the addresses in a list such as GOPROXY's, each as
// a grant names it.
func hostsIn(list string) []string {
	var hosts []string
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' }) {
		u, err := url.Parse(item)
		if err != nil || u.Host == "" || slices.Contains(hosts, u.Host) {
			continue
		}
		hosts = append(hosts, u.Host)
	}
	return hosts
}

// wrapped does what another program does: it asks wrap for the command and
// starts that itself.
func (t *trial) wrapped() error {
	dir, err := os.MkdirTemp("", "lnk-try-way-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	request, err := json.Marshal(map[string]any{
		"confinement": map[string]any{
			"name": "try", "write": []string{t.project}, "read": []string{}, "commands": "any",
			"net": map[string]any{"proxied": map[string]any{
				"proxy": map[string]any{"upstream": "direct", "dir": dir, "hosts": t.hosts},
				"ports": []int{},
			}},
		},
		"argv": []string{"go", "run", "."},
	})
	if err != nil {
		return err
	}
	wrap := exec.Command(t.lnk, "sandbox", "wrap")
	wrap.Stdin = bytes.NewReader(request)
	wrap.Stderr = os.Stderr
	out, err := wrap.Output()
	if err != nil {
		return fmt.Errorf("wrap: %w", err)
	}
	var made struct {
		Argv []string          `json:"argv"`
		Env  map[string]string `json:"env"`
	}
	if err := json.Unmarshal(out, &made); err != nil {
		return fmt.Errorf("wrap: %w", err)
	}
	fmt.Printf("$ %s …\n", strings.Join(made.Argv[:2], " "))
	proxy, err := output("go", "env", "GOPROXY")
	if err != nil {
		return err
	}
	cmd := exec.Command(made.Argv[0], made.Argv[1:]...)
	cmd.Dir = t.project
	cmd.Env = append(os.Environ(), "GOPROXY="+proxy)
	for name, value := range made.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the wrapped command: %w", err)
	}
	return nil
}
