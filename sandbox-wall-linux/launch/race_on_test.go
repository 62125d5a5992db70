//go:build race

package launch

// withRace is whether races are looked for. What bubblewrap alone runs of ours it
// runs in a namespace of its own too.
const withRace = true
