package front

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// What a shell's completion asks, with descriptions and without, as cobra's
// scripts do: the words so far, the last one not whole. A line a word, and the
// last line a colon and a number, of which 4 says that no file is meant.
const (
	complete     = "__complete"
	completeBare = "__completeNoDesc"

	noFiles = ":4"
)

// completed answers. What stands behind a plugin's name is that plugin's to
// answer, in its own process.
func completed(ask string, words []string, out io.Writer) int {
	if len(words) > 1 && words[0] != "plugin" && words[0] != "help" {
		if path, err := find(words[0]); err == nil {
			syscall.Exec(path, append([]string{path, ask}, words[1:]...), os.Environ())
		}
		fmt.Fprintln(out, noFiles)
		return 0
	}
	var known []string
	switch {
	case len(words) <= 1:
		known = append(list(), "plugin", "help")
	case words[0] == "plugin" && len(words) == 2:
		known = []string{"list", "install"}
	case words[0] == "plugin" && words[1] == "install":
		for name := range sources {
			known = append(known, name)
		}
	}
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	for _, one := range known {
		if strings.HasPrefix(one, last) {
			fmt.Fprintln(out, one)
		}
	}
	fmt.Fprintln(out, noFiles)
	return 0
}
