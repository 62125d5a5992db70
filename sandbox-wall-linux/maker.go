package linuxwall

// A Maker carries a plan out.
type Maker uint8

const (
	// Bubblewrap is bwrap(1), with what Facts say of it.
	Bubblewrap Maker = iota
	// Kernel is package direct: the kernel's own calls, from our own process.
	// It needs Linux 5.12, and no bubblewrap.
	Kernel
)

func (m Maker) String() string {
	if m == Kernel {
		return "kernel"
	}
	return "bubblewrap"
}
