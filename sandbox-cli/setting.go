package cli

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// readSetting looks up what every chain needs of this machine.
func readSetting() (setting, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return setting{}, setupFailed(fmt.Errorf("our own binary: %w", err))
	}
	home, err := homeFolder()
	if err != nil {
		return setting{}, setupFailed(err)
	}
	dir, err := client.Settings()
	if err != nil {
		return setting{}, setupFailed(err)
	}
	return setting{self: self, wall: stages.Beside(self), home: home, dir: string(dir), system: hostProxies, kept: keptSecret(dir)}, nil
}

// base is what a spec kept in folder is made into a confinement with. The
// folder of a proxy's sockets is named and not made: this version's proxy is
// handed its listeners instead.
func (s setting) base(folder, name string) (client.Base, error) {
	base, err := client.BaseFor(folder)
	if err != nil {
		return client.Base{}, setupFailed(err)
	}
	base.Sockets = filepath.Join(s.dir, "sandbox", "way", name)
	return base, nil
}

// homeFolder is the user's home: HOME where it is an absolute path, else, also
// where HOME is not set, what the user database says.
func homeFolder() (string, error) {
	if h := os.Getenv("HOME"); filepath.IsAbs(h) {
		return filepath.Clean(h), nil
	}
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return "", fmt.Errorf("home folder: HOME names none and the user database has none either: set HOME")
	}
	return filepath.Clean(u.HomeDir), nil
}
