package tool

import (
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// Python takes the program's json.py for its own where a call is made in the
// folder that it lies in, unless it is told otherwise.
func TestPythonFromHere(t *testing.T) {
	h, err := New(Config{Sandbox: "web", Write: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for words, refused := range map[string]bool{
		"/usr/bin/python3 -m json.tool":                       true,
		"/usr/bin/python3.13 -mjson.tool":                     true,
		"/usr/bin/python -Esm json.tool":                      true,
		"/usr/bin/python3 -c import_json":                     true,
		"/usr/bin/pypy3 -m json.tool -P":                      true,
		"/usr/bin/python3 -W ignore -X dev -m json.tool":      true,
		"/usr/bin/python3 -WIgnore -Xdev -m json.tool":        true,
		"/usr/bin/python3 --check-hash-based-pycs never -m x": true,
		"/usr/bin/python3 -P -m json.tool":                    false,
		"/usr/bin/python3 -IBm json.tool":                     false,
		"/usr/bin/python3 -W -m /opt/deploy.py":               false,
		"/usr/bin/python3 -B /opt/deploy.py -m x":             false,
		"/usr/bin/python3 - -m x":                             false,
		"/usr/bin/python3":                                    false,
		"/usr/bin/python3-config -m":                          false,
		"/usr/bin/make -m x":                                  false,
	} {
		err := h.Check(route.Tool{Argv: strings.Fields(words)})
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "could replace them") {
			t.Errorf("%s: %v", words, err)
		}
	}
}
