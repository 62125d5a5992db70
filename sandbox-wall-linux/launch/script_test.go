package launch

import (
	"strings"
	"testing"
)

func TestReadsInput(t *testing.T) {
	for line, want := range map[string]bool{
		"sh":                          true,
		"-bash":                       true,
		"/bin/bash -e -u":             true,
		"bash -s":                     true,
		"bash -s -- a b":              true,
		"bash -es a":                  true,
		"sh -":                        true,
		"bash --":                     true,
		"bash --norc --noprofile":     true,
		"bash --rcfile f":             true,
		"bash -o pipefail":            true,
		"bash -euo pipefail":          true,
		"bash +O extglob":             true,
		"busybox sh":                  true,
		"/bin/busybox ash -e":         true,
		"zsh -f":                      true,
		"sh -c true":                  false,
		"bash -lc true":               false,
		"bash -ec true":               false,
		"bash script":                 false,
		"bash -e script a":            false,
		"bash -o pipefail script":     false,
		"bash -- script":              false,
		"bash --rcfile f script":      false,
		"busybox":                     false,
		"busybox cat":                 false,
		"python3":                     false,
		"make -s":                     false,
		"/usr/bin/node -":             false,
		"lnk-sandbox run -- sh":       false,
		"timeout 5 sh":                false,
		"bash /dev/fd/63":             false,
		"ssh host bash":               false,
		"/opt/bash/bin/other --login": false,
	} {
		if got := readsInput(strings.Fields(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	if readsInput(nil) {
		t.Error("no command line is a shell's")
	}
}

func TestTakesTerminal(t *testing.T) {
	for line, want := range map[string][2]bool{ // without a terminal, and with one
		"sh":                       {false, true},
		"/bin/dash -e":             {false, true},
		"busybox ash":              {false, true},
		"zsh -f":                   {false, true},
		"sh -i":                    {true, true},
		"sh -i -c true":            {true, true},
		"sh -ec true":              {false, false},
		"bash --rcfile i":          {false, true},
		"bash --norc -i -c true":   {true, true},
		"bash -m script":           {true, true},
		"bash +m script":           {false, false},
		"csh --interactive script": {true, true},
		"bash script -i":           {false, false},
		"bash -c true -i":          {false, false},
		"bash -o monitor script":   {false, false}, // it is given the terminal when it asks
		"python3 -i":               {false, false},
		"less -i":                  {false, false},
	} {
		for at, on := range []bool{false, true} {
			if got := takesTerminal(strings.Fields(line), on); got != want[at] {
				t.Errorf("%q, on a terminal %v: %v", line, on, got)
			}
		}
	}
}
