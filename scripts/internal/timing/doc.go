// Package timing measures commands side by side: in one run, one of each in
// turn, so that whatever else the machine does meets all of them alike.
//
// Start with [Measure], and [Table] to show what it found. Compare the ratios
// of one table, never the times of two: those are two machines, or two moods of
// one.
package timing
