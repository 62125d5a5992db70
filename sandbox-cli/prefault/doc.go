// Package prefault has the kernel map a starting program's pages by a few calls
// instead of a fault each. A program that imports it starts in fewer faults;
// there is nothing to call.
//
// A Go program of ours takes 250 to 450 page faults before its first line of
// work: its text and tables are mapped 16 pages at a time (fault_around_bytes),
// its heap page by page. On a virtual machine whose page tables are shadowed a
// fault costs 12 to 40 µs, and was half of a start. MADV_POPULATE_READ and
// MADV_POPULATE_WRITE (madvise(2), Linux 5.14) map thousands of pages in less
// than a millisecond; an older kernel refuses them, and the faults are taken.
//
// [Entry] does it before Go's runtime begins, for what the file holds. Where a
// limit is so low that the runtime would end with a trace, it says which to raise.
// The linker has to be told of it (-ldflags=-E=…/prefault.Entry), as scripts/build
// does; a program linked without it begins as any other, a little slower.
package prefault
