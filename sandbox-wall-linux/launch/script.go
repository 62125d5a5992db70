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

// options are those of a shell's command line, and what follows them. Of what is
// none ok is false.
func options(args []string) (options, rest []string, ok bool) {
	if len(args) > 1 && path.Base(args[0]) == "busybox" {
		args = args[1:]
	}
	if len(args) == 0 || !slices.Contains(shells, strings.TrimPrefix(path.Base(args[0]), "-")) {
		return nil, nil, false
	}
	for rest = args[1:]; len(rest) > 0; rest = rest[1:] {
		option := rest[0]
		switch {
		case option == "--" || option == "-":
			return options, rest[1:], true
		case strings.HasPrefix(option, "--"):
			if slices.Contains(takesWord, option) && len(rest) > 1 {
				rest = rest[1:]
			}
		case len(option) > 1 && (option[0] == '-' || option[0] == '+'):
			if strings.ContainsAny(option, "oO") && len(rest) > 1 {
				rest = rest[1:]
			}
		default:
			return options, rest, true
		}
		options = append(options, option)
	}
	return options, nil, true
}

// told is whether a shell is told one of some options of a letter.
func told(options []string, letters string) bool {
	return slices.ContainsFunc(options, func(o string) bool {
		return o[0] == '-' && !strings.HasPrefix(o, "--") && strings.ContainsAny(o, letters)
	})
}

// readsInput says whether a command line is a shell's whose script is its standard
// input: it names none, nor commands (sh(1p)).
func readsInput(args []string) bool {
	options, rest, is := options(args)
	return is && (told(options, "s") || len(rest) == 0 && !told(options, "c"))
}

// takesTerminal is whether a command line is a shell's that makes itself the
// foreground of its terminal as it starts: it is interactive, or told to look after
// jobs. onTerminal is whether it reads from one, and writes its errors there.
func takesTerminal(args []string, onTerminal bool) bool {
	options, _, is := options(args)
	return is && (told(options, "im") || slices.Contains(options, "--interactive") || onTerminal && readsInput(args))
}
