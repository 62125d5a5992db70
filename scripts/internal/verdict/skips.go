package verdict

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Facts say what this machine has, for the judgement of skips. Each names a
// thing as the reason of a skip does.
type Facts struct {
	// Landlock is the version of its interface; 0 is none.
	Landlock int
	// Kernel is the running kernel's version, its first two numbers.
	Kernel [2]int
	// Has says which things are there: "apparmor", "ipv6", "macos",
	// "program <name>". One that is not in it is not known.
	Has map[string]bool
}

// need is the reason of a skip that can be judged: "needs <what>", and any why
// behind a colon.
var need = regexp.MustCompile(`^needs ([^:]+)(?::.*)?$`)

// judge says whether a skip for this reason was unavoidable for this user here,
// and what it thought of it.
func (f Facts) judge(reason string, uid int) (unavoidable bool, because string) {
	found := need.FindStringSubmatch(reason)
	if found == nil {
		return false, "its reason does not start with \"needs <what>\""
	}
	what := strings.TrimSpace(found[1])
	switch what {
	case "root":
		return uid != 0, "this run is root's"
	case "an ordinary user":
		return uid == 0, "this run is an ordinary user's"
	}
	if version, ok := strings.CutPrefix(what, "landlock "); ok {
		wanted, err := strconv.Atoi(version)
		return err == nil && f.Landlock < wanted, "this machine has landlock " + strconv.Itoa(f.Landlock)
	}
	if version, ok := strings.CutPrefix(what, "kernel "); ok {
		wanted, good := twoNumbers(version)
		return good && slices.Compare(f.Kernel[:], wanted[:]) < 0, "this machine has a newer one"
	}
	has, known := f.Has[what]
	if !known {
		return false, "whether this machine has that is not known: scripts/internal/verdict lists what is"
	}
	return !has, "this machine has it"
}

// twoNumbers reads "6.12".
func twoNumbers(version string) (numbers [2]int, ok bool) {
	major, minor, found := strings.Cut(version, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	return [2]int{a, b}, found && errA == nil && errB == nil
}

// A Finding is a skip that this machine could have run, and why it is thought so.
type Finding struct {
	Skip
	Run, Because string
}

// Unjustified gives the skips that this machine could have run: those that are
// avoidable by their own reason, and that did not pass in another run either.
// Runs that have a run beside them for every user are given together.
func Unjustified(runs []Run, facts Facts) []Finding {
	var findings []Finding
	for i, run := range runs {
		for _, skip := range run.Skips {
			elsewhere := slices.ContainsFunc(runs, func(other Run) bool {
				return other.UID != run.UID && passed(other, skip.Test)
			})
			if elsewhere {
				continue
			}
			unavoidable, because := facts.judge(skip.Reason, run.UID)
			if !unavoidable {
				findings = append(findings, Finding{skip, runs[i].Name, because})
			}
		}
	}
	return findings
}

// passed says whether a test, or all of its parts, passed in a run.
func passed(r Run, test Test) bool {
	if ok, there := r.Tests[test]; there {
		return ok
	}
	some := false
	for t, ok := range r.Tests {
		if t.Package == test.Package && strings.HasPrefix(t.Name, test.Name+"/") {
			if !ok {
				return false
			}
			some = true
		}
	}
	return some
}
