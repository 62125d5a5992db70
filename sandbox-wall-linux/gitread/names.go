package gitread

import (
	"slices"
	"strings"
)

// A Name is a file or folder that a value names.
type Name struct {
	// Path is as it is written, with ~/ and what stands for the work tree.
	Path string
	// What is what it is for.
	What Use
}

// A Use is what git does with a name.
type Use uint8

const (
	// Included is a configuration that is read in the place of the line. Its
	// path is from the folder of the file that names it.
	Included Use = iota + 1
	// Folder is one in which git finds what it runs.
	Folder
	// File is one that git is led by.
	File
	// Program is a word of a command: a file that is run, or given to what is.
	Program
	// Mentioned is a word of any other value that looks like a path.
	Mentioned
)

// Tree stands for the top of the work tree in a [Name], and Repository for the
// repository's own folder.
const (
	Tree       = "\x01"
	Repository = "\x02"
)

// folders and files are the settings whose value is one path (git-config(1)).
var (
	folders = []string{"core.hookspath", "init.templatedir"}
	files   = []string{"core.attributesfile", "core.excludesfile", "commit.template", "mailmap.file", "blame.ignorerevsfile"}
)

// commands are how the names of settings end that hold a command.
var commands = []string{
	"command", "cmd", "program", "helper", "editor", "pager", "driver", "textconv", "clean", "smudge", "process", "hook", "filter",
	"tunnel", "update", "askpass", "fsmonitor", "gitproxy", "external", "uploadpack", "receivepack", "path", "browser",
}

// Names gives what a value names, and whether it says more than can be known
// from it: a command with variables or other folders.
func (e Entry) Names() (names []Name, composed bool) {
	setting := e.Section + "." + e.Key
	switch {
	case e.Value == "" || strings.IndexByte(e.Value, 0) >= 0:
		return nil, false
	case e.Key == "path" && (e.Section == "include" || e.Section == "includeif"):
		return []Name{{e.Value, Included}}, false
	case slices.Contains(folders, setting):
		return []Name{{optional(e.Value), Folder}}, false
	case slices.Contains(files, setting):
		return []Name{{optional(e.Value), File}}, false
	}
	use := Mentioned
	shell := strings.HasPrefix(e.Value, "!") || e.Section == "pager"
	if shell || e.Section != "alias" && slices.ContainsFunc(commands, func(end string) bool { return strings.HasSuffix(e.Key, end) }) {
		use = Program
	}
	found, composed := words(strings.TrimPrefix(e.Value, "!"))
	for i, w := range found {
		if _, value, has := strings.Cut(w, "="); has {
			found = append(found, value)
		}
		found[i] = w
	}
	for _, w := range found {
		if w == "" || w == "." || w == ".." || use == Mentioned && !strings.Contains(w, "/") || strings.Contains(w, "://") {
			continue
		}
		names = append(names, Name{w, use})
	}
	return names, composed && use == Program
}

// optional takes the mark of a path off that need not be there.
func optional(path string) string { return strings.TrimPrefix(path, ":(optional)") }

// known are what commands write for folders that are known here.
var known = strings.NewReplacer(
	"$(git rev-parse --show-toplevel)", Tree, "`git rev-parse --show-toplevel`", Tree, "$PWD/", Tree+"/", "${PWD}", Tree,
	"$GIT_DIR", Repository, "${GIT_DIR}", Repository, "$(git rev-parse --git-dir)", Repository, "$HOME/", "~/", "${HOME}/", "~/",
)

// words gives the words of a shell command, with no regard to what parts them,
// and whether the shell would make others of them.
func words(command string) (found []string, composed bool) {
	var word strings.Builder
	in := byte(0)
	end := func() {
		if word.Len() > 0 {
			found = append(found, word.String())
			composed = composed || word.String() == "cd"
			word.Reset()
		}
	}
	command = known.Replace(command)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case in == 0 && (c == '"' || c == '\''):
			in = c
		case c == in && in != 0:
			in = 0
		case c == '\\' && in != '\'' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
		case in == 0 && strings.IndexByte(" \t\n;&|()<>`", c) >= 0:
			end()
		case in != 0 && (c == ' ' || c == '\n' || c == ';'):
			// A command in quotes is another one's argument, as of sh -c; a
			// name with a space is both.
			word.WriteByte(c)
		default:
			composed = composed || c == '$' && in != '\''
			word.WriteByte(c)
		}
	}
	end()
	for _, w := range slices.Clone(found) {
		if strings.ContainsAny(w, " \n;") {
			inner, more := words(w)
			if len(inner) > 1 {
				found, composed = append(found, inner...), composed || more
			}
		}
	}
	return found, composed
}
