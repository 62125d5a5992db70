package launch

import (
	"path"
	"slices"
	"strings"
)

// shells read their script as they execute it, line by line, and go on in it where
// a command that has the same standard input left it.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh", "yash", "fish", "csh", "tcsh"}

// takesWord are options of shells' with a word of their own behind them.
var takesWord = []string{"--rcfile", "--init-file"}

// readsInput says whether a command line is a shell's whose script is its standard
// input: it names none, nor commands (sh(1p)).
func readsInput(args []string) bool {
	if len(args) > 1 && path.Base(args[0]) == "busybox" {
		args = args[1:]
	}
	if len(args) == 0 || !slices.Contains(shells, strings.TrimPrefix(path.Base(args[0]), "-")) {
		return false
	}
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		option := rest[0]
		switch {
		case option == "--" || option == "-":
			return len(rest) == 1
		case strings.HasPrefix(option, "--"):
			if slices.Contains(takesWord, option) && len(rest) > 1 {
				rest = rest[1:]
			}
		case len(option) > 1 && (option[0] == '-' || option[0] == '+'):
			if option[0] == '-' && strings.ContainsRune(option, 's') {
				return true
			}
			if option[0] == '-' && strings.ContainsRune(option, 'c') {
				return false
			}
			if strings.ContainsAny(option, "oO") && len(rest) > 1 {
				rest = rest[1:]
			}
		default:
			return false
		}
	}
	return true
}
