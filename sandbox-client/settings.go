package client

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// HomeVariable names the settings folder when it is not ~/.lnk: for tests and
// for services.
const HomeVariable = "LNK_HOME"

// SettingsFolder is the settings folder's path, absolute and clean. It is
// closed in every sandbox. Files in it are 0600 in folders of 0700, written to
// a temporary name and renamed. Its methods give paths and make nothing; those
// that take a sandbox's or a tool's name refuse one that is none, so that no
// name leads out of the folder.
type SettingsFolder string

// Settings gives the settings folder of this process: LNK_HOME, or .lnk in the
// home folder. It may not be there yet.
func Settings() (SettingsFolder, error) {
	if dir := os.Getenv(HomeVariable); dir != "" {
		if err := form.PathText(dir); err != nil {
			return "", fmt.Errorf("%s: %w", HomeVariable, err)
		}
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("%s: %s: not an absolute path", HomeVariable, form.Quote(dir))
		}
		return SettingsFolder(filepath.Clean(dir)), nil
	}
	home, err := homeFolder()
	if err != nil {
		return "", err
	}
	return SettingsFolder(filepath.Join(home, ".lnk")), nil
}

// homeFolder is what HOME names, or, where that is not set or empty as under
// `env -i`, cron and services, what the user database says.
func homeFolder() (string, error) {
	home := os.Getenv("HOME")
	if home == "" {
		u, err := user.Current()
		if err != nil || u.HomeDir == "" {
			return "", errors.New("the home folder: HOME names none and the user database has none either: set HOME")
		}
		home = u.HomeDir
	}
	if err := form.PathText(home); err != nil {
		return "", fmt.Errorf("HOME: %w", err)
	}
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("HOME: %s: not an absolute path", form.Quote(home))
	}
	return filepath.Clean(home), nil
}

// Sandbox is the sandbox plugin's part.
func (s SettingsFolder) Sandbox() string { return filepath.Join(string(s), "sandbox") }

// Profile is the file of one wrap's macOS rules; random makes it its own,
// letters and digits.
func (s SettingsFolder) Profile(name, random string) (string, error) {
	if err := form.Name(random); err != nil {
		return "", errors.New("the random part of a profile's name: " + err.Error())
	}
	return s.named(name, "-"+random+".sb")
}

// Routes is the file of a sandbox's routes and their caller.
func (s SettingsFolder) Routes(name string) (string, error) { return s.named(name, ".routes.json") }

// URLSecret is the file of the secret that a sandbox's route addresses carry.
func (s SettingsFolder) URLSecret(name string) (string, error) { return s.named(name, ".url-secret") }

// Upstream is the file of a sandbox's upstream when that holds a password.
func (s SettingsFolder) Upstream(name string) (string, error) { return s.named(name, ".upstream") }

// Tools is the folder of the tools that run outside.
func (s SettingsFolder) Tools() string { return filepath.Join(s.Sandbox(), "tools") }

// Tool is the file of one tool.
func (s SettingsFolder) Tool(name string) (string, error) {
	return s.named(name, ".json", "tools")
}

// OnStops is the folder of what runs when the wires are stopped.
func (s SettingsFolder) OnStops() string { return filepath.Join(s.Sandbox(), "on-stop") }

// OnStop is the file of what runs for one name.
func (s SettingsFolder) OnStop(name string) (string, error) {
	return s.named(name, ".json", "on-stop")
}

// Stopped is the file that stops every wire while it exists.
func (s SettingsFolder) Stopped() string { return filepath.Join(s.Sandbox(), "wires", "stopped") }

// PausedFolder is the folder of the files that pause one wire each.
func (s SettingsFolder) PausedFolder() string { return filepath.Join(s.Sandbox(), "wires", "paused") }

// Paused is the file that pauses a sandbox's wire while it exists; its text
// says why.
func (s SettingsFolder) Paused(sandbox string) (string, error) {
	return s.named(sandbox, "", "wires", "paused")
}

// TrafficFolder is the folder of what running proxies have carried.
func (s SettingsFolder) TrafficFolder() string { return filepath.Join(s.Sandbox(), "traffic") }

// Traffic is the file of one proxy's, with the marker of [StartMarker].
func (s SettingsFolder) Traffic(pid int, start string) (string, error) {
	name := measure.RecordName(pid, start)
	if _, _, ok := measure.ParseRecordName(name); !ok {
		return "", fmt.Errorf("traffic of process %d with start marker %s: not a process", pid, form.Quote(start))
	}
	return filepath.Join(s.TrafficFolder(), name), nil
}

// Log is the file of what the proxy and the wall decided for a sandbox.
func (s SettingsFolder) Log(sandbox string) (string, error) { return s.named(sandbox, ".jsonl", "log") }

// Ready is the file of what was found out about this machine.
func (s SettingsFolder) Ready() string { return filepath.Join(s.Sandbox(), "ready.json") }

// named gives a file that a name of the contract is part of.
func (s SettingsFolder) named(name, suffix string, folders ...string) (string, error) {
	if err := form.Name(name); err != nil {
		return "", errors.New("name: " + err.Error())
	}
	dir := filepath.Join(append([]string{s.Sandbox()}, folders...)...)
	return filepath.Join(dir, name+suffix), nil
}
