package direct

import (
	"errors"
	"os"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/noexec"
)

// ErrUnavailable is that this machine does not let us make a sandbox so. It is
// known before anything of the program is there.
var ErrUnavailable = errors.New("this machine lets us make no sandbox by the kernel's own calls")

// Early is what a sandbox is begun with, before it is known what will be seen in
// it.
type Early struct {
	_ [0]func()

	// OwnNet is an empty network of its own, with nothing but a loopback;
	// else the network is the caller's.
	OwnNet bool
	// Handed are sockets that are made in that network and handed out of it,
	// over the socket HandTo, by who makes it into something: then not even its
	// loopback is up. None is none, and nothing is sent.
	Handed []Handed
	HandTo int
	// HostName is its name for itself.
	HostName string
	// Session has the program lead a session, and so without a controlling
	// terminal.
	Session bool
	// Apart has the first process a copy of its parent's memory, instead of
	// sharing it. Where the kernel kills a process for want of memory it kills
	// all that share its memory: a sandbox whose memory is bounded would end
	// its parent so.
	Apart bool
	// Files are the program's standard streams, as descriptors; they may be
	// closed once it is begun.
	Files [3]int
}

// Handed is a socket that is handed out of a new network as it is made, with a
// message, or a message alone where Domain is 0. One of IPv6 is left out, with
// its message, where the kernel has none.
type Handed struct {
	_ [0]func()

	// Domain, Type and Protocol are socket(2)'s.
	Domain, Type, Protocol int
	Message                []byte
}

// A Device is a stream that is opened inside: its path there, and flags of
// open(2).
type Device struct {
	_ [0]func()

	Path  string
	Flags int
}

// A Sandbox is what there is to make.
type Sandbox struct {
	_ [0]func()

	// Steps are the view, in order, the root first.
	Steps []linuxwall.Step
	// Given are what of them others see, where it was made by somebody else.
	Given Given
	// NoExec is what is made unfit to be executed before the view is made of
	// it, and what is not; nil is nothing.
	NoExec *noexec.Orders
	// Console is the file of the terminal that the program is on, shown as
	// /dev/console so that ttyname(3) finds a name; empty is none.
	Console string
	// Streams are opened inside in the place of the program's own, where they
	// have a path. One that cannot be opened stays as it is.
	Streams [3]Device

	// Foreground has the program lead a process group, and that be the terminal's
	// foreground, before it starts: a group of its caller's has no number inside.
	Foreground bool
	// Dir is where the program starts. One that is not there leaves it at the
	// root; look at it before the program is let go.
	Dir string
	// Candidates are the paths inside that the program's name can mean, in
	// order, as execvp(3) tries them. Argv and Env are its own.
	Candidates, Argv, Env []string
	// Seccomp is the filter, an array of struct sock_filter.
	Seccomp []byte
	// Landlock is a struct landlock_ruleset_attr, of which the program is given
	// a rule set; empty is none. Run are paths inside that it lets be executed,
	// where it lets nothing else be.
	Landlock []byte
	Run      []string
	// Keep stays open in the first process, and in it alone; nil is none.
	Keep *os.File
}

// Given are descriptors of folders as others see them, by their paths, made by
// AsOthersSee for a sandbox whose maker may not. Each is for one sandbox, and
// stays open.
type Given map[string]int
