package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// A tool that is a script is not started by what the program could replace, and
// nothing is found where it could have put it.
func TestWhatStartsATool(t *testing.T) {
	dir := t.TempDir()
	written, outside := filepath.Join(dir, "written"), filepath.Join(dir, "outside")
	put := func(path, text string) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put(filepath.Join(written, "bin", "opener"), "#!/bin/sh\n")
	there := put(filepath.Join(outside, "opener"), "#!/bin/sh\n")
	h, err := New(Config{Sandbox: "s", Write: []string{written}, Environ: []string{"PATH=:" + written + "/bin:" + outside}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if got := h.Find("opener"); got != there {
		t.Errorf("found %q, want %q", got, there)
	}
	if err := os.Remove(there); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(written, "bin", "opener"), there); err != nil {
		t.Fatal(err)
	}
	if got := h.Find("opener"); got != "" {
		t.Errorf("found %q, which the program could replace", got)
	}
	put(filepath.Join(written, "deploy.sh"), "echo\n")
	put(filepath.Join(outside, "deploy.sh"), "echo\n")
	for words, refused := range map[string]bool{
		"-x " + written + "/deploy.sh":           true,
		outside + "/../written/./deploy.sh":      true,
		written + "/not-there-yet":               true,
		outside + "/deploy.sh " + written + "/x": false,
		"-C " + written + " status":              false,
		"run " + written + "/deploy.sh":          false,
		"deploy.sh":                              false,
		"-o pipefail " + written + "/deploy.sh":  true,
		"-o " + outside + "/deploy.sh x":         false,
		"-c":                                     false,
	} {
		err := h.Check(route.Tool{Argv: append([]string{"/bin/sh"}, strings.Fields(words)...)})
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "could replace it") {
			t.Errorf("%s: %v", words, err)
		}
	}
	for words, refused := range map[string]bool{
		"env A=b sh " + written + "/deploy.sh":                    true,
		"env -i -u A -C / A=b " + written + "/deploy.sh":          true,
		"env -S sh\x00" + written + "/deploy.sh":                  true,
		"env --split-string=sh " + written + "/deploy.sh":         true,
		"timeout -k 5 30s nice -n 5 sh " + written + "/deploy.sh": true,
		"env A=b python3 -m json.tool":                            true,
		"env A=" + written + "/deploy.sh sh":                      false,
		"env A=b sh " + outside + "/deploy.sh " + written + "/x":  false,
		"timeout 5 sh deploy.sh " + written + "/deploy.sh":        false,
		"env": false,
	} {
		argv := strings.Fields(words)
		for i, word := range argv {
			argv[i] = strings.ReplaceAll(word, "\x00", " ")
		}
		argv[0] = "/usr/bin/" + argv[0]
		err := h.Check(route.Tool{Argv: argv})
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "could replace") {
			t.Errorf("%s: %v", words, err)
		}
	}
	for text, refused := range map[string]bool{
		"#!/bin/sh\n":                              false,
		"#! " + written + "/bin/python3 -I\n":      true,
		"#!/usr/bin/env -S " + written + "/x\n":    true,
		"#!" + outside + "/../written/bin/python3": true,
		"#!bin/sh\n":                               true,
		"#! python3 -I\n":                          true,
		"\x7fELF" + written:                        false,
		"":                                         false,
	} {
		script := put(filepath.Join(outside, "tool"), text)
		err := h.Check(route.Tool{Argv: []string{script}})
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "could replace it") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
