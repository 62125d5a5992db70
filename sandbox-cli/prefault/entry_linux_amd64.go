package prefault

// Entry is where the kernel begins a program that was linked with it as its
// entry symbol: it populates text, tables and data, and goes on to where a Go
// program begins otherwise. It is no function to call.
func Entry()
