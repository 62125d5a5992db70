package stages

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// maxLogged bounds the changes that are written to a log.
const maxLogged = 10000

// changed is a line of package journal, as far as the wall writes it: that
// package comes with the proxy, for which each start of the wall would pay.
type changed struct {
	At      time.Time `json:"at"`
	Sandbox string    `json:"sandbox"`
	What    string    `json:"what"`
	Path    string    `json:"path"`
	Detail  string    `json:"detail"`
}

// logChanges appends a line a change to the sandbox's log, and gives its path.
func logChanges(settings, sandbox string, changes []survey.Change) (path string, err error) {
	path, err = client.SettingsFolder(settings).Log(sandbox)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: not a file", path)
	}
	var text []byte
	for _, c := range changes[:min(len(changes), maxLogged)] {
		line, err := json.Marshal(changed{time.Now().UTC().Truncate(time.Millisecond), sandbox, "changed", c.Path, c.What}, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return "", err
		}
		text = append(append(text, say.JSON(line)...), '\n')
	}
	_, err = f.Write(text)
	return path, err
}
