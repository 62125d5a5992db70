//go:build race

package inside

// withRace is whether races are looked for: that takes twenty times as long here,
// a process a start, and finds the same for every user.
const withRace = true
