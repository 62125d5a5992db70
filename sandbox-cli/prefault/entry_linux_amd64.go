package prefault

//lint:file-ignore U1000 what stands here is used in assembly

// Entry is where the kernel begins a program that was linked with it as its
// entry symbol: it populates text, tables and data, ends the program with one
// line where Go's runtime would end it with a trace, and goes on to where a Go
// program begins otherwise. It is no function to call.
func Entry()

// Below these soft limits (getrlimit(2)) Go's runtime does not begin: it
// reserves address space for all of a heap to come (runtime/mpagealloc_64bit.go)
// and counts what it can write to as data.
var (
	leastSpace uint64 = 768 << 20
	leastData  uint64 = 80 << 20
	// leastFiles is what a start of ours has open at once, and is asked of the hard
	// limit: the runtime raises the soft one to it.
	leastFiles uint64 = 24
	// manyProcesses is from where on a limit on a user's processes is taken
	// for one that leaves enough: below it what is left is tried.
	manyProcesses uint64 = 1024
)

const (
	processes = 12  // threads of a start of ours, with some to spare
	status    = 125 // nothing was set up
)

// What is said, and what to do about it.
var (
	noSpace     = "lnk sandbox: a process may have too little address space to begin: raise that limit to 1 GiB or more (ulimit -v)\n"
	noData      = "lnk sandbox: a process may have too little memory to begin: raise that limit to 128 MiB or more (ulimit -d)\n"
	noFiles     = "lnk sandbox: a process may have too few files open to begin: raise that limit to 64 or more (ulimit -n)\n"
	noProcesses = "lnk sandbox: too few processes are left to you to begin: raise the limit on them (ulimit -u), or end some\n"
)

// What Entry writes to.
var (
	limit    [2]uint64
	gate     int64
	children [processes]int64
	patience = [2]int64{5, 0} // a timespec: how long a process waits whose parent is gone
)
