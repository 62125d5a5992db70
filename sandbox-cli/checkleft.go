package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// What a check makes in the settings folder bears a name of its own, and goes
// with it. A check that was killed leaves it, under a name that no other wraps
// and nobody reads the log of: the next check takes it away.

const (
	checkPrefix = "check-"
	checkRandom = 26 // letters and digits, as rand.Text has them

	// checkOver is when a check has ended for sure, or waits for nobody.
	checkOver = 10 * checkTime
)

// sweepChecks removes what checks left that were killed.
func sweepChecks(settings client.SettingsFolder, now time.Time) {
	log, err := settings.Log(checkPrefix)
	if err != nil {
		return
	}
	for _, dir := range []string{settings.Sandbox(), filepath.Dir(log)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !leftByCheck(e.Name()) {
				continue
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > checkOver {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// leftByCheck is whether a file's name is one that a check's name is part of.
func leftByCheck(file string) bool {
	rest, is := strings.CutPrefix(file, checkPrefix)
	if !is || len(rest) <= checkRandom || strings.Trim(rest[:checkRandom], "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return false
	}
	switch rest[checkRandom:] {
	case ".jsonl", ".jsonl.0", ".jsonl.1", ".routes.json", ".url-secret", ".upstream":
		return true
	}
	return false
}
