package linuxwall

import (
	"io"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// A System is the access to this machine that reading facts needs. Tests give
// one of their own; [ReadFacts] uses the kernel's.
type System struct {
	// UID is the caller's.
	UID int
	// Lstat tells what stands at a path, a link at its end not followed.
	Lstat func(path string) Node
	// Names lists at most limit entries of a folder, sorted, and says whether
	// these are all.
	Names func(dir string, limit int) ([]string, bool)
	// Text reads at most limit bytes of a regular file, and says whether this
	// is all of it.
	Text func(path string, limit int) (string, bool)
	// Open opens a regular file that is too long to be held, and gives its
	// size; nil where that cannot be done.
	Open func(path string) (file io.ReadCloser, size int64)
	// Makeable says whether the caller can make something in a folder now.
	Makeable func(dir string) bool
	// ReadOnly says whether a path lies on what is mounted read only.
	ReadOnly func(path string) bool
	// Dir gives the current folder as the kernel names it, or "".
	Dir func() string
	// Enter says whether the program, which has no capability, may be in the
	// current folder.
	Enter func(dir string) bool
	// Program gives the running program's file, and what it is.
	Program func() (string, Node)
	// Walk looks below write folders, for a bounded time.
	Walk func(roots, except []string) survey.Found
	// NamesOf looks for the names of files, for a bounded time.
	NamesOf func(part survey.Part, files []survey.Inode) survey.Names
	// Answers says whether something listens on a socket.
	Answers func(path string) bool
	// RootOnly walks folders for what only root may read, but for those that are
	// shown as others see them.
	RootOnly func(shown []string) ([]string, error)
	// Others says whether a folder can be shown as others see it (see
	// [Step.Others]); nil is that none can.
	Others func(folder string) bool
	// SocketTables reads the tables of unix sockets (as /proc/net/unix) of
	// this network namespace and, where it is a given one, of the host's.
	SocketTables func(net NetFrom) ([]string, error)
	// Landlock gives the kernel's version of it, or 0.
	Landlock func() int
	// Start reads what a file needs to start.
	Start func(path string) Start
	// Programs walks a folder of libraries for programs, and says whether
	// these are all.
	Programs func(dir string) ([]string, bool)
	// BwrapHelp runs bubblewrap for its --help and --version.
	BwrapHelp func(path string) (help, version string, err error)
	// Keep writes a file of the settings folder, 0600 in a 0700 folder.
	Keep func(path, text string) error
}
