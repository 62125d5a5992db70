package tool

import (
	"path/filepath"
	"strings"
)

// fromHere says whether a tool is Python told to take a module (-m) or a text
// (-c), with nothing before that has it look for modules elsewhere than in the
// folder that a call is made in, where it looks first (Python's documentation,
// sys.path; -P is of 3.11, -I of 3.4).
func fromHere(argv []string) (option string, is bool) {
	name := filepath.Base(argv[0])
	name = strings.TrimPrefix(strings.TrimPrefix(name, "python"), "pypy")
	if name == filepath.Base(argv[0]) || strings.Trim(name, "0123456789.-dt") != "" {
		return "", false
	}
	for i := 1; i < len(argv); i++ {
		word := argv[i]
		if strings.HasPrefix(word, "--") {
			if word == "--check-hash-based-pycs" {
				i++
			}
			continue
		}
		if len(word) < 2 || word[0] != '-' {
			return "", false // a script
		}
		at := strings.IndexAny(word, "PImcWX") // letters before take no argument
		if at < 0 {
			continue
		}
		switch c := word[at]; c {
		case 'P', 'I':
			return "", false
		case 'm', 'c':
			return "-" + string(c), true
		}
		if at == len(word)-1 {
			i++ // its argument is the next word
		}
	}
	return "", false
}
