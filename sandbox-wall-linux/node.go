package linuxwall

// A Kind is what stands at a path of this machine.
type Kind uint8

// The kinds of what stands at a path. The zero value is nothing.
const (
	Missing Kind = iota
	Folder
	File
	Link
	Socket
	Pipe
	Device
	// Unseen is a path that could not be looked at: a folder above it may not
	// be searched, or the file system failed.
	Unseen
	// Tangled is a path whose links lead in a circle, or through more than 40
	// of them, which is where the kernel gives up (path_resolution(7)).
	Tangled
)

var kindNames = [...]string{"missing", "a folder", "a file", "a link", "a socket", "a pipe", "a device", "unseen", "tangled"}

func (k Kind) String() string { return kindNames[k] }

// A Node is what stands at one path, links not followed.
type Node struct {
	Kind Kind
	// Dev and Ino tell one file from another, as stat(2) has them.
	Dev, Ino uint64
	// Mode holds the permission bits, set-user-id and the like included.
	Mode uint32
	// UID and GID own it.
	UID, GID uint32
	// Links is how many names it has.
	Links uint64
	// Size is in bytes; Changed is when its inode last changed, in nanoseconds
	// since 1970. Only a program whose answers are kept is known by them.
	Size, Changed int64
	// Target is the text of a link.
	Target string
}

// same says whether two nodes are one file.
func (n Node) same(m Node) bool {
	return n.Kind == m.Kind && n.Dev == m.Dev && n.Ino == m.Ino
}

// Permission bits of Node.Mode.
const (
	setUserID   = 0o4000
	sticky      = 0o1000
	anyExecute  = 0o111
	groupWrite  = 0o020
	otherRead   = 0o004
	otherWrite  = 0o002
	otherSearch = 0o001
)
