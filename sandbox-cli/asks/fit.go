package asks

import "strings"

// leastRows is what every question may take, on however small a terminal.
const leastRows = 6

// fits says whether a text takes no more than half of a terminal, so that all
// of it is there to be read with what stands before it.
func fits(text string, rows, columns int) bool {
	if rows == 0 || columns == 0 {
		rows, columns = 24, 80
	}
	taken := 0
	for line := range strings.SplitSeq(text, "\n") {
		cells := 0
		for _, r := range line {
			cells++
			if r > 0x7e { // two at most
				cells++
			}
		}
		taken += max(1, (cells+columns-1)/columns)
	}
	return taken <= max(rows/2, leastRows)
}
