package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/stubs"
)

// readSetting looks up what every chain needs of this machine.
func readSetting() (setting, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return setting{}, setupFailed(fmt.Errorf("our own binary: %w%s", err, procAdvice(os.Lstat)))
	}
	home, err := homeFolder()
	if err != nil {
		return setting{}, setupFailed(err)
	}
	dir, err := settingsFolder()
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

// settingsFolder is where settings are kept by who makes some.
func settingsFolder() (client.SettingsFolder, error) {
	if os.Getenv(client.HomeVariable) == "" {
		if home, err := homeFolder(); err == nil {
			if err := holdsSettings(home); err != nil {
				return "", err
			}
		}
	}
	return client.Settings()
}

// settingsError says of an error that it is of the settings, and what to do.
func settingsError(err error) error {
	return fmt.Errorf("settings: %w%s", err, stubs.Advice(err))
}

// procAdvice says what to do where the kernel is not asked, for want of its
// /proc, or is empty.
func procAdvice(look func(string) (fs.FileInfo, error)) string {
	if _, err := look("/proc/self"); err == nil {
		return ""
	}
	return ": there is no /proc here: mount -t proc proc /proc"
}

// holdsSettings refuses a home folder that is no folder, and one that is not
// there where the settings would make it: a HOME that is mistyped is not made
// true. Where it cannot be made, as daemons' users have it, a run that keeps
// nothing needs none.
func holdsSettings(home string) error {
	const instead = "set HOME to yours, or have LNK_HOME name a folder for the settings"
	switch info, err := os.Stat(home); {
	case err == nil && !info.IsDir(), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("home folder: %s: is no folder: %s", form.Quote(home), instead)
	case errors.Is(err, fs.ErrNotExist) && makeable(home):
		return fmt.Errorf("home folder: %s: is not there, and is not made: make it, or %s", form.Quote(home), instead)
	}
	return nil
}

// makeable says whether a folder that is not there could be made.
func makeable(dir string) bool {
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if _, err := os.Stat(dir); err == nil {
			return syscall.Access(dir, 2|1) == nil // W_OK, X_OK
		}
	}
	return false
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
