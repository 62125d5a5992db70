package stages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// maxTold bounds how many changes are named one by one: of repositories, and of
// everything else, so that neither hides the other.
const maxTold = 20

// An aftermath is what whoever runs a program is told when it has ended: what
// stands otherwise than before of what tools outside act on.
type aftermath struct {
	below    linuxwall.Below
	writable func(string) bool
	before   survey.Marks
	full     []string // folders of which before says not all
	todos    map[string]unix.Stat_t
	// opened are repositories' own folders that the program writes, and links
	// those in them.
	opened []string
	links  map[string]unix.Stat_t
	// settings and sandbox say where the log is.
	settings, sandbox string
}

func beforeProgram(plan *linuxwall.Plan, settings string) aftermath {
	a := aftermath{below: plan.Below, writable: plan.Writable(), settings: settings, sandbox: plan.Name}
	a.before, a.full = survey.Mark(a.below.Found, a.writable)
	a.todos = todosIn(a.below.Roots, a.writable)
	a.opened = openedGit(plan, a.writable)
	a.links, _ = linksIn(a.opened)
	return a
}

// ran says whether there was a program, by how its sandbox ended.
func ran(err error) bool {
	var e *launch.Error
	return err == nil || errors.As(err, &e) && e.Status > launch.StatusNotFound
}

// tell looks again and tells, a line a change, what git acts on first. Where it
// tells not all, or the sandbox has a log, all of it is in the log. taken were
// told already.
func (a aftermath) tell(s say.Streams, taken []string) {
	found := survey.Walk(a.below.Roots, a.below.Except)
	after, full := survey.Mark(found, a.writable)
	// What either look did not come to is neither new nor gone.
	changes := survey.Compare(a.before, after, slices.Concat(a.below.Found.Unseen, a.full), slices.Concat(found.Unseen, full))
	changes = slices.DeleteFunc(changes, func(c survey.Change) bool { return slices.Contains(taken, c.Path) })
	rest := 0
	told := map[bool]int{}
	for _, c := range changes {
		if told[c.Git]++; told[c.Git] > maxTold {
			rest++
			continue
		}
		if top, path := a.submodule(c); top != "" {
			say.ComplainLine(s.Err, "run", submoduleLine(c.Path, top, path))
			continue
		}
		say.ComplainLine(s.Err, "run", quoted(c.Path)+" "+c.What+" while the sandbox ran, and tools outside act on it: look at it before you use it")
	}
	var todos []string
	for _, path := range newOnes(a.todos, todosIn(a.below.Roots, a.writable)) {
		todos = append(todos, todoLine(path))
	}
	tellFew(s, todos)
	a.tellOpened(s)
	if len(changes) > 0 && (rest > 0 || a.hasLog()) {
		log, err := logChanges(a.settings, a.sandbox, changes)
		switch {
		case err != nil:
			say.ComplainLine(s.Err, "run", "what changed cannot be written to the log: "+err.Error())
		case rest > 0:
			log = ": all of it is in " + log
		}
		if rest > 0 {
			say.ComplainLine(s.Err, "run", fmt.Sprintf("%d more of the kind%s", rest, log))
		}
	}
	if len(full) > 0 {
		say.ComplainLine(s.Err, "run", fmt.Sprintf("tools outside act on what is in %s, which holds more than is looked through (folders of the kind: %d): look at it before you use it", quoted(full[0]), len(full)))
	}
	if more := len(found.Unseen); more > len(a.below.Found.Unseen) {
		say.ComplainLine(s.Err, "run", fmt.Sprintf("%d folders were not looked through at the end: %s and others may hold more of the kind", more, quoted(found.Unseen[0])))
	}
}

// tellOpened tells what git would be led by in the repositories that were opened.
func (a aftermath) tellOpened(s say.Streams) {
	links, whole := linksIn(a.opened)
	fresh := newOnes(a.links, links)
	for _, path := range fresh[:min(len(fresh), maxTold)] {
		say.ComplainLine(s.Err, "run", linkLine(path))
	}
	if more := len(fresh) - maxTold; more > 0 {
		say.ComplainLine(s.Err, "run", fmt.Sprintf("%d more of the kind, in %s: take all links in it away before you use git there", more, quoted(filepath.Dir(fresh[maxTold]))))
	}
	if !whole {
		say.ComplainLine(s.Err, "run", fmt.Sprintf("not all of %s was looked through at the end: links in it lead git to write where they say", quoted(a.opened[0])))
	}
	tellFew(s, strayLines(a.opened))
}

// tellFew tells the first of many lines, and how many more there are: nothing
// else is to be lost among what a program makes by the thousand.
func tellFew(s say.Streams, lines []string) {
	for _, line := range lines[:min(len(lines), maxTold)] {
		say.ComplainLine(s.Err, "run", line)
	}
	if more := len(lines) - maxTold; more > 0 {
		say.ComplainLine(s.Err, "run", fmt.Sprintf("%d more of the kind: look through the worktrees folder of the repository before you use git there", more))
	}
}

// submodule says in which repository what was made is a submodule: one that was
// there before, and whose configuration and hooks are kept. In any other, git
// may not be started at all.
func (a aftermath) submodule(c survey.Change) (top, path string) {
	if !c.Git || filepath.Base(c.Path) != ".git" {
		return "", ""
	}
	top, path = asSubmodule(c.Path, a.below.Roots)
	dotGit := filepath.Join(top, ".git")
	if _, there := a.before[dotGit]; !there || a.writable(filepath.Join(dotGit, "config")) || a.writable(filepath.Join(dotGit, "hooks")) {
		return "", ""
	}
	return top, path
}

func (a aftermath) hasLog() bool {
	log, err := client.SettingsFolder(a.settings).Log(a.sandbox)
	if err == nil {
		_, err = os.Lstat(log)
	}
	return err == nil
}
