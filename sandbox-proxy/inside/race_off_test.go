//go:build !race

package inside

const withRace = false
