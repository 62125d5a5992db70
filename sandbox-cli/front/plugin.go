package front

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// sources are where plugins that this project publishes are built from.
var sources = map[string][]string{
	"sandbox": {
		"github.com/lnkhq/lnk-sandbox/sandbox-cli/cmd/lnk-sandbox@latest",
		"github.com/lnkhq/lnk-sandbox/sandbox-cli/cmd/sandbox-wall@latest",
		"github.com/lnkhq/lnk-sandbox/sandbox-cli/cmd/sandbox-call@latest",
	},
}

func plugin(args []string, out, errs io.Writer) int {
	switch {
	case len(args) == 1 && args[0] == "list":
		for _, name := range list() {
			fmt.Fprintln(out, name)
		}
		return 0
	case len(args) == 2 && args[0] == "install":
		if err := install(args[1], errs); err != nil {
			fmt.Fprintf(errs, "lnk plugin install: %v\n", err)
			return 1
		}
		return 0
	}
	fmt.Fprintln(errs, "lnk plugin: want `list` or `install <name>`")
	return 2
}

// install builds a plugin with the Go toolchain and puts it where go install
// does. A plugin that is there already is left as it is.
func install(name string, errs io.Writer) error {
	if path, err := find(name); err == nil {
		fmt.Fprintf(errs, "lnk plugin install: %s is there: %s\n", name, path)
		return nil
	} else if !errors.Is(err, ErrNoPlugin) {
		return err
	}
	source, ok := sources[name]
	if !ok {
		return fmt.Errorf("%s: nothing is known of where to get it", name)
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("%s: needs the Go toolchain on PATH to be built: %w", name, err)
	}
	cmd := exec.Command(tool, append([]string{"install"}, source...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = errs, errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: go install: %w", name, err)
	}
	if _, err := find(name); err != nil {
		return fmt.Errorf("%s: built, but its folder is not on PATH: add the folder that `go env GOPATH` names, with /bin", name)
	}
	return nil
}
