//go:build !linux

package cli

import (
	"fmt"
	"runtime"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// errOther is what is said where nothing is enforced.
func errOther() error {
	return fmt.Errorf("%s: nothing is enforced on this system yet: run it on Linux", runtime.GOOS)
}

func proxyStage(Streams, []string) (int, error)             { return statusSetup, errOther() }
func proxyWithEnv(Streams, []string, []string) (int, error) { return statusSetup, errOther() }

func planFor(client.Confinement, []string, setting) (linuxwall.Plan, error) {
	return linuxwall.Plan{}, errOther()
}

func kernelMakes() error { return errOther() }

func readInside(client.Confinement, setting, string) (bool, error) { return false, errOther() }

func whyPath(client.Confinement, setting, string) (bool, string, error) {
	return false, "", errOther()
}
