//go:build !linux

package stages

import (
	"fmt"
	"runtime"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
)

// errOther is what every stage says where nothing is enforced.
func errOther() error {
	return fmt.Errorf("%s: nothing is enforced on this system yet: run it on Linux", runtime.GOOS)
}

func proxyInside(say.Streams, []string) (int, error) { return say.StatusSetup, errOther() }
func handed(say.Streams, []string) (int, error)      { return say.StatusSetup, errOther() }
func wall(say.Streams, []string) (int, error)        { return say.StatusSetup, errOther() }
func noexecStage(say.Streams, []string) (int, error) { return say.StatusSetup, errOther() }
func insideStage(say.Streams, []string) (int, error) { return say.StatusSetup, errOther() }
func sweep(say.Streams, []string) (int, error)       { return say.StatusSetup, errOther() }

// Relay is only on Linux.
func Relay([]string, []string) (int, error) { return say.StatusSetup, errOther() }

// Wall is only on Linux.
func Wall(say.Streams, []string, []string) (int, error) { return say.StatusSetup, errOther() }
