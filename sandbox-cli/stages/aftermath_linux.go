package stages

import (
	"fmt"
	"slices"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// maxTold bounds how many changes are named one by one.
const maxTold = 20

// An aftermath is what whoever runs a program is told when it has ended: what
// stands otherwise than before of what tools outside act on.
type aftermath struct {
	below    linuxwall.Below
	writable func(string) bool
	before   survey.Marks
}

func beforeProgram(plan *linuxwall.Plan) aftermath {
	a := aftermath{below: plan.Below, writable: plan.Writable()}
	a.before = survey.Mark(a.below.Found, a.writable)
	return a
}

// tell looks again and tells, a line a change. taken were told already.
func (a aftermath) tell(s say.Streams, taken []string) {
	found := survey.Walk(a.below.Roots, a.below.Except)
	after := survey.Mark(found, a.writable)
	told := 0
	// What the second walk did not come to is neither new nor gone.
	for _, c := range survey.Compare(a.before, after, a.below.Found.Unseen, found.Unseen) {
		if slices.Contains(taken, c.Path) {
			continue
		}
		if told++; told <= maxTold {
			say.ComplainLine(s.Err, "run", c.Path+" "+c.What+" while the sandbox ran, and tools outside act on it: look at it before you use it")
		}
	}
	if told > maxTold {
		say.ComplainLine(s.Err, "run", fmt.Sprintf("%d more of the kind", told-maxTold))
	}
	if more := len(found.Unseen); more > len(a.below.Found.Unseen) {
		say.ComplainLine(s.Err, "run", fmt.Sprintf("%d folders were not looked through at the end: %s and others may hold more of the kind", more, found.Unseen[0]))
	}
}
