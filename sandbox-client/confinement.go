package client

import (
	"path"
	"slices"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// A Confinement says what a program may touch. [Wrap] takes one; plugins make
// it from a [Spec] with [Of]. It says nothing of what runs, where, or with
// which environment: that stays its caller's.
//
// The wall reads all of it but the proxy in Net, which the proxy reads. Paths
// are absolute and clean (a slash at the end is dropped when it is read), and
// those of Write and Read must be there when it
// starts. Whatever it says, the settings folder stays closed.
type Confinement struct {
	_ [0]func()

	// Name names the sandbox in logs, traffic and file names:
	// 1 to 64 of A-Z a-z 0-9 . _ - , the first a letter or digit, no "..".
	Name string `json:"name"`
	// Write names files and folders to read and write.
	Write []string `json:"write"`
	// WriteDotFiles names those of Write at whose top .git, .envrc, .vscode
	// and .idea may be written too, or one dot file's own path (<dir>/.git).
	// In the others they are read only. Absent is none.
	WriteDotFiles []string `json:"write_dot_files,omitempty"`
	// Read names files and folders to read.
	Read []string `json:"read"`
	// ReadHome opens the user's home folder to read. Absent is false.
	ReadHome bool `json:"read_home,omitzero"`
	// Hide names files and folders that are closed, but for what Write and
	// Read name in them; they need not be there. Absent is none.
	Hide []string `json:"hide,omitempty"`
	// TmpPrefix starts the name of the program's temporary folder: made like
	// Name, at most 32 characters. Absent leaves the name to the wall.
	TmpPrefix string `json:"tmp_prefix,omitempty"`
	// Terminal lets the program keep the terminal it is started on. Absent is
	// false: it has no controlling terminal.
	Terminal bool `json:"terminal,omitzero"`
	// Commands says what may be executed. It has no default.
	Commands Commands `json:"commands"`
	// DeveloperTools opens toolchains kept in the home folder and lets the
	// sandbox's processes trace each other. Absent is false.
	DeveloperTools bool `json:"developer_tools,omitzero"`
	// Net is the network. It has no default.
	Net Net `json:"net"`
}

// DotFiles are a project's dot files that run outside: at the top of a write
// folder they are read only, unless WriteDotFiles says otherwise.
func DotFiles() []string { return []string{".git", ".envrc", ".vscode", ".idea"} }

// Check judges the values of a confinement: what no machine could make a
// sandbox of. What its paths are on this machine is judged by
// [Base.CheckConfinement] and when it is started.
func (c Confinement) Check() error {
	return form.First(
		form.At("name", form.Name(c.Name)),
		form.At("write", form.Each(c.Write, form.Path)),
		form.At("write_dot_files", form.First(form.Each(c.WriteDotFiles, form.Path), form.Each(c.WriteDotFiles, c.opensDotFiles))),
		form.At("read", form.Each(c.Read, form.Path)),
		form.At("hide", form.Each(c.Hide, form.Path)),
		form.At("tmp_prefix", checkTmpPrefix(c.TmpPrefix)),
		form.At("commands", c.Commands.Check()),
		form.At("net", c.Net.Check()),
	)
}

// opensDotFiles checks that an entry of WriteDotFiles is one of Write, or a
// dot file at the top of one.
func (c Confinement) opensDotFiles(entry string) error {
	if slices.Contains(c.Write, entry) {
		return nil
	}
	dir, file := path.Split(entry)
	if slices.Contains(DotFiles(), file) && slices.Contains(c.Write, path.Clean(dir)) {
		return nil
	}
	return form.Refuse(form.Quote(entry) + ": has to be one of write too, or a dot file at the top of one (.git, .envrc, .vscode, .idea)")
}

// checkTmpPrefix checks the start of a file's name: what a name is made of,
// at most 32 characters.
func checkTmpPrefix(s string) error {
	if s == "" {
		return nil
	}
	if len(s) > 32 {
		return form.Refuse("at most 32 characters")
	}
	return form.Name(s)
}

func confinementShape(c *Confinement) form.Shape {
	return form.Object(
		form.Required("name", form.String(&c.Name)),
		form.Required("write", form.Paths(&c.Write)),
		form.Optional("write_dot_files", form.Paths(&c.WriteDotFiles)),
		form.Required("read", form.Paths(&c.Read)),
		form.Optional("read_home", form.Bool(&c.ReadHome)),
		form.Optional("hide", form.Paths(&c.Hide)),
		form.Optional("tmp_prefix", form.String(&c.TmpPrefix)),
		form.Optional("terminal", form.Bool(&c.Terminal)),
		form.Required("commands", commandsShape(&c.Commands)),
		form.Optional("developer_tools", form.Bool(&c.DeveloperTools)),
		form.Required("net", netShape(&c.Net)),
	)
}
