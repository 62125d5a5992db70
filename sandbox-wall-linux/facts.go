package linuxwall

import (
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/written"
)

// Facts are what a plan depends on of this machine and of who asks.
// [ReadFacts] reads them; a plan made of the same facts is the same plan.
type Facts struct {
	_ [0]func()

	// UID is who runs the program: bubblewrap maps it to itself.
	UID int
	// Home is the caller's home folder: $HOME where that is absolute, else
	// what the user database says. Empty when there is none.
	Home string
	// Settings are the folders that always stay closed: the one in use first.
	Settings []string
	// Dir is the current folder, as the kernel names it; empty when it is gone.
	Dir string
	// DirShut is whether the program may not enter it: no search permission.
	DirShut bool
	// PWD is the current folder as the caller's shell names it, when it is
	// the same folder: links it came by are kept in it.
	PWD string
	// Path is the caller's PATH.
	Path string
	// Program is the file of the running program, our own.
	Program string
	// By is what the plan is for.
	By Maker
	// Bwrap is the bubblewrap at hand, looked for where the plan is for it.
	Bwrap Bwrap
	// NoNamespaces names the setting of this machine that lets nobody like the
	// caller make a user namespace; empty when none is known to.
	NoNamespaces string

	// Sockets are the paths that unix sockets of this machine are bound to,
	// as they were bound.
	Sockets []string
	// RootOnly are files and folders of the system folders that only root
	// may read. Looked for when UID is 0, whose sandbox could read them.
	RootOnly []string
	// Others are folders that are shown as others see them, in which it was not
	// looked for.
	Others []string
	// Written are the folders that earlier sandboxes of this user wrote.
	Written written.Folders
	// Mounts are what is mounted here.
	Mounts []procfs.Mount
	// Routed are the network devices that a route of this network namespace
	// leads to, each once. Looked for when the network is given.
	Routed []string

	// Landlock is the kernel's version of it; 0 is none. Looked for when only
	// some commands may be executed, as are Starts, what files need to start,
	// and Programs, the programs in folders of libraries.
	Landlock int
	Starts   map[string]Start
	Programs map[string]List

	// toolchains are those that the caller's variables name. Looked for with
	// developer_tools.
	toolchains []toolchain

	// Nodes, Lists, Texts, Makeable and ReadOnly are what stands at paths, what
	// is in folders, what small files say, whether folders can be written in,
	// and what is mounted read only: those that the plan asks for.
	Nodes    map[string]Node
	Lists    map[string]List
	Texts    map[string]Text
	Makeable map[string]bool
	ReadOnly map[string]bool
	// Gitlinks are the submodules of indexes of git's, by the index.
	Gitlinks map[string]Gitlinks
	// Below is what lies below the write folders, once it was looked for, and
	// Answers which of the sockets there something listens on.
	Below *survey.Found
	// OtherNames are the names of kept files with several, once they were
	// looked for.
	OtherNames *survey.Names
	Answers    map[string]bool
}

// A List is what is in a folder.
type List struct {
	// Names are sorted.
	Names []string
	// Whole is whether these are all of them.
	Whole bool
}

// A Text is what a small file says.
type Text struct {
	Text string
	// Whole is whether this is all of it.
	Whole bool
}

// Limits of what is read.
const (
	maxNames    = 4096     // entries of a folder that is listed
	maxText     = 64 << 10 // bytes of a small file
	maxTable    = 16 << 20 // bytes of a table of /proc
	maxPasswd   = 8 << 20  // bytes of the user database
	maxRootOnly = 512      // files that only root may read
	maxSockets  = 4096     // sockets under what is opened
)
