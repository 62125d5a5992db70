// Command build makes bin/lnk, bin/lnk-sandbox and what that starts: static, so that the sandbox
// can bind its own binary into any view of the system, and so that names are
// resolved by Go's resolver alone.
package main

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := build(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		stop()
		os.Exit(1)
	}
}

// entry is what the binaries begin with, so that they start faster.
const entry = "github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault.Entry"

func build(ctx context.Context) error {
	w, err := workspace.Find(".")
	if err != nil {
		return err
	}
	said, err := w.Go(ctx, "sandbox-cli", nil, "env", "GOOS", "GOARCH")
	if err != nil {
		return err
	}
	system, arch, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	bin := filepath.Join(w.Root, "bin")
	args := []string{"build", "-trimpath", "-buildvcs=" + stamp(ctx, w), "-o", bin + "/"}
	args = append(args, linked(system, arch)...)
	commands := []string{"lnk", "lnk-sandbox", "sandbox-wall", "sandbox-call"}
	for _, name := range commands {
		args = append(args, "./cmd/"+name)
	}
	if _, err := w.Go(ctx, "sandbox-cli", []string{"CGO_ENABLED=0"}, args...); err != nil {
		return err
	}
	for _, name := range commands {
		binary := filepath.Join(bin, name)
		if err := static(system, binary); err != nil {
			return err
		}
		fmt.Println(binary)
	}
	return nil
}

// stamp says whether the binaries can carry the commit that they were built
// from, whatever the environment's GOFLAGS say: where git knows this folder.
func stamp(ctx context.Context, w workspace.Workspace) string {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--verify", "HEAD")
	cmd.Dir = w.Root
	if cmd.Run() != nil {
		return "false"
	}
	return "true"
}

// linked gives the linker's flags for the system that is built for.
func linked(system, arch string) []string {
	if system == "linux" && arch == "amd64" {
		return []string{"-ldflags=-E=" + entry}
	}
	return nil
}

// static says what a binary would load besides itself. On systems
// but Linux there is no other kind of binary to tell it from.
func static(system, binary string) error {
	if system != "linux" {
		return nil
	}
	file, err := elf.Open(binary)
	if err != nil {
		return err
	}
	defer file.Close()
	if libraries, err := file.ImportedLibraries(); err == nil && len(libraries) > 0 {
		return fmt.Errorf("%s: not static: it loads %s", binary, strings.Join(libraries, ", "))
	}
	return nil
}
