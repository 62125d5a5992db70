package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// binVariable names the folder of lnk and lnk-sandbox under test. Where it is
// not set they are built for the run.
const binVariable = "LNK_TEST_BIN"

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if os.Getenv(binVariable) == "" {
		dir, err := os.MkdirTemp("", "lnk-bin-")
		if err == nil {
			defer os.RemoveAll(dir)
			err = os.Chmod(dir, 0o755)
		}
		if err == nil {
			err = build(dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "tests:", err)
			return 1
		}
		os.Setenv(binVariable, dir)
	}
	return labtest.Main(m)
}

// build makes the static binaries, as a release does (scripts/build).
func build(dir string) error {
	args := []string{"build", "-trimpath", "-o", dir}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		args = append(args, "-ldflags=-E=github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault.Entry")
	}
	cmd := exec.Command("go", append(args, "./cmd/lnk", "./cmd/lnk-sandbox", "./cmd/sandbox-wall", "./cmd/sandbox-call")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

func lnk() string { return filepath.Join(os.Getenv(binVariable), "lnk") }
