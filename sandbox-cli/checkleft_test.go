package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// A check takes away what one that was killed left, once nobody can be in it
// anymore, and nothing that bears another name.
func TestSweepChecks(t *testing.T) {
	settings := client.SettingsFolder(t.TempDir())
	random := strings.Repeat("a2", checkRandom/2)
	now := time.Now()
	for _, c := range []struct {
		name string
		old  bool
		goes bool
	}{
		{"sandbox/check-" + random + ".routes.json", true, true},
		{"sandbox/check-" + random + ".url-secret", true, true},
		{"sandbox/check-" + random + ".upstream", true, true},
		{"sandbox/log/check-" + random + ".jsonl", true, true},
		{"sandbox/log/check-" + random + ".jsonl.1", true, true},
		{"sandbox/log/check-b" + random[1:] + ".jsonl", false, false},
		{"sandbox/check-web.routes.json", true, false},
		{"sandbox/check-" + random + "a.routes.json", true, false},
		{"sandbox/check-A" + random[1:] + ".routes.json", true, false},
		{"sandbox/web.routes.json", true, false},
		{"sandbox/log/web.jsonl", true, false},
		{"sandbox/tools/check-" + random + ".json", true, false},
	} {
		path := filepath.Join(string(settings), c.name)
		at := now
		if c.old {
			at = now.Add(-checkOver - time.Minute)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		sweepChecks(settings, now)
		if _, err := os.Lstat(path); os.IsNotExist(err) != c.goes {
			t.Errorf("%s, old %v: %v, want gone %v", c.name, c.old, err, c.goes)
		}
	}
}
