package linuxwall

// A Verb is what a step does.
type Verb uint8

// The verbs of a plan.
const (
	// Empty mounts an empty file system of the sandbox's own.
	Empty Verb = iota + 1
	// MakeFolder makes a folder in one of those.
	MakeFolder
	// Read and Write bind a file or folder of this machine.
	Read
	Write
	// Pin binds a folder of a write folder on itself: a mount point cannot be
	// renamed or removed.
	Pin
	// Close covers a folder by an empty one; Seal makes that read only later.
	Close
	// CloseFile covers a file, or a socket, by one that cannot be opened.
	CloseFile
	// Tell puts a file of ours over one of this machine, read only.
	Tell
	// WriteFile puts a file of ours into an empty file system.
	WriteFile
	// Processes and Devices mount /proc and /dev.
	Processes
	Devices
	// MakeLink makes a symbolic link in an empty file system.
	MakeLink
	// Seal makes a file system of the sandbox's own read only.
	Seal
)

var verbNames = [...]string{
	Empty: "empty", MakeFolder: "folder", Read: "read", Write: "write", Pin: "pin", Close: "close", CloseFile: "close",
	Tell: "tell", WriteFile: "file", Processes: "proc", Devices: "dev", MakeLink: "link", Seal: "seal",
}

func (v Verb) String() string { return verbNames[v] }

// A Step is one mount, or one thing made on the way.
type Step struct {
	Verb Verb
	// At is the path inside. It passes no link.
	At string
	// From is what is bound: a path of this machine that passes no link. An
	// empty file system with one was made there by package noexec.
	From string
	// Is is what stood there when the facts were read. [Open] gives a
	// descriptor of that, or fails.
	Is Node
	// Perm is the mode of what is made.
	Perm uint32
	// Stable is where package noexec shows what is bound, as it was looked at,
	// for a bubblewrap that takes no descriptors; empty where it does.
	Stable string
	// Size bounds an empty file system, in bytes; 0 is the kernel's own bound.
	Size int64
	// Text is where a link leads, or what a file of ours says.
	Text string
	// Others shows what is read as those see it who neither own it nor are of its
	// group (chmod(1)), whoever the program runs as: what is not for them stays
	// closed whenever it was put there and whatever it is called. Package direct
	// can.
	Others bool
	// Because says why.
	Because Reason
}

// Opened says whether bubblewrap gets a descriptor for the step: of what is
// bound, or of the text of a file.
func (s Step) Opened() bool {
	return s.binds() && s.Stable == "" || s.Verb == Tell || s.Verb == WriteFile
}

// binds says whether the step shows something of this machine.
func (s Step) binds() bool { return s.Verb == Read || s.Verb == Write || s.Verb == Pin }

// steps turns places into steps, with the links that stand in the sandbox's
// own file systems.
func (d *draft) steps(kept []*place) []Step {
	steps := make([]Step, 0, len(kept)+len(d.links))
	for _, p := range kept {
		steps = append(steps, p.step())
	}
	v := viewOf(steps)
	for at, leads := range d.links {
		if v.holdsLink(at) {
			steps = append(steps, Step{Verb: MakeLink, At: at, Text: leads, Because: Reason{Member: "view", Text: "as on this machine"}})
		}
	}
	sortSteps(steps)
	return steps
}

func (p *place) step() Step {
	s := Step{At: p.at, Because: p.because}
	switch p.kind {
	case shut:
		s.Verb, s.Perm, s.Is = Close, 0o555, p.node
		if p.node.Kind != Folder && p.node.Kind != Missing && p.node.Kind != Unseen {
			s.Verb, s.Perm = CloseFile, 0
		}
	case readOnly, readWrite, pinned:
		s.Verb, s.From, s.Is = map[placeKind]Verb{readOnly: Read, readWrite: Write, pinned: Pin}[p.kind], p.at, p.node
		if p.from != "" {
			s.From = p.from
		}
		s.Others = p.others
	case ours, sealed:
		s.Verb, s.Perm = Empty, p.perm
	case folder:
		s.Verb, s.Perm = MakeFolder, p.perm
	case told:
		s.Verb, s.Perm, s.Text = Tell, 0o444, p.text
	case procFS:
		s.Verb = Processes
	case devFS:
		s.Verb = Devices
	}
	return s
}

// seals gives the steps that make read only what stays so, the root last: once
// it is sealed, no mount point can be made in it.
//
// Root's /proc is sealed as well. The kernel lets user 0 write what is there of
// the whole machine, /proc/sys/kernel/core_pattern among it, by its number
// alone: in a user namespace of its own and without a capability it is root
// still (proc_sys(5); fs/proc/proc_sysctl.c, test_perm). bubblewrap covers
// folders that it may write in, and /proc/sys is not one, its files are.
func (d *draft) seals(kept []*place) []Step {
	var steps []Step
	for i := len(kept) - 1; i >= 0; i-- {
		p := kept[i]
		because := p.because
		switch {
		case p.kind == sealed, p.kind == devFS, p.kind == shut && p.step().Verb == Close:
		case p.kind == procFS && d.f.UID == 0:
			because.Text = "root could change this machine's kernel by it"
		default:
			continue
		}
		steps = append(steps, Step{Verb: Seal, At: p.at, Because: because})
	}
	return steps
}
