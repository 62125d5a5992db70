//go:build !race

package launch

const withRace = false
