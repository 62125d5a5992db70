package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// What wrap writes for a sandbox's routes is one pair of files a sandbox's name.
// It stays, as the command that wrap printed does: who has that may start it
// again, and no sandbox sees the settings folder. A program without a wall could
// read them, so that they are removed before one starts: its command is for one
// start.

// keptUnused is how long the files of a name are kept that nobody starts.
const keptUnused = 30 * 24 * time.Hour

// remove removes the files that wrap wrote, once they are read.
func (r routed) remove() {
	for _, path := range []string{r.routesIn, r.urlSecretIn} {
		if path != "" {
			os.Remove(path)
		}
	}
}

// used notes that the files were started from.
func (r routed) used() {
	now := time.Now()
	for _, path := range []string{r.routesIn, r.urlSecretIn} {
		if path != "" {
			os.Chtimes(path, now, now)
		}
	}
}

// sweepUnused removes the files of names that were wrapped and not started for
// so long that nobody will.
func sweepUnused(sandbox string, now time.Time) {
	entries, err := os.ReadDir(sandbox)
	if err != nil {
		return
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasSuffix(name, ".routes.json") && !strings.HasSuffix(name, ".url-secret") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > keptUnused {
			os.Remove(filepath.Join(sandbox, e.Name()))
		}
	}
}

// keptSecret gives the URL secret that wrap made for a name before, or "". The
// addresses in the environment that it printed then hold it, and stay right.
func keptSecret(settings client.SettingsFolder) func(name string) string {
	return func(name string) string {
		path, err := settings.URLSecret(name)
		if err != nil {
			return ""
		}
		f, err := os.Open(path)
		if err != nil {
			return ""
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
			return "" // others may know it
		}
		text, err := io.ReadAll(io.LimitReader(f, maxURLSecret))
		secret := strings.TrimSpace(string(text))
		if errors.Join(err, form.URLSecret(secret)) != nil {
			return ""
		}
		return secret
	}
}
