// Package procs has a process that moves other programs' bytes run Go code on
// one thread at a time, for as long as one is enough ([Fit]).
//
// Go wakes another thread whenever a goroutine becomes ready while fewer than
// GOMAXPROCS run, to look for work. In a proxy each event is a few microseconds
// of work, and is done before the other thread has woken: what it costs to wake
// it, and to have it look and go back to sleep, is lost. With one thread a new
// tunnel took a third less processor time, a plain request a quarter, and bulk
// the same, on two cores that client and server had a part in. Work that fills
// more than one core gets as many threads as there are.
package procs
