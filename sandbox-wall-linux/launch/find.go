package launch

import (
	"bytes"
	"path"
	"strings"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// usualPath is where execvp(3) looks when there is no PATH.
const usualPath = "/bin:/usr/bin"

// candidates are the files that a program's name can mean, in order, as
// execvp(3) has it. One of a relative path is left relative to dir; without a
// dir it cannot be known.
func candidates(name, searched string, set bool, dir string) []string {
	if strings.Contains(name, "/") {
		return in(dir, name)
	}
	if !set {
		searched = usualPath
	}
	var files []string
	for d := range strings.SplitSeq(searched, ":") {
		files = append(files, in(dir, path.Join(d, "./")+"/"+name)...)
	}
	return files
}

func in(dir, file string) []string {
	switch {
	case path.IsAbs(file):
		return []string{file}
	case dir == "":
		return nil
	}
	return []string{dir + "/" + file}
}

// interpreter gives what a script names in its first line, or "".
func interpreter(head []byte) string {
	line, isScript := bytes.CutPrefix(head, []byte("#!"))
	if !isScript {
		return ""
	}
	line, _, whole := bytes.Cut(line, []byte("\n"))
	// Blanks part words, and nothing else does: the \r of lines that end as on
	// Windows is the name's (load_script in fs/binfmt_script.c).
	words := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	// A name that fills all that the kernel looks at may go on.
	if len(words) == 0 || !whole && len(words) == 1 && len(head) >= linuxwall.HeadSize {
		return ""
	}
	return string(words[0])
}
