package seccomp

import (
	"fmt"
	"slices"
	"strings"
)

// A Rule is what the filter does to one call, in words.
type Rule struct {
	_ [0]func()

	// Call is its name, as in man 2.
	Call string
	// When says which arguments are meant; empty means every call.
	When string
	// Answer is the errno it gets: "EPERM", "ENOSYS", ….
	Answer string
	// Why it is closed.
	Why string
}

var argNames = map[string][]string{
	"clone": {"flags"}, "unshare": {"flags"}, "personality": {"persona"},
	"ioctl": {"", "request"}, "fcntl": {"", "command"}, "setpriority": {"which", "who"}, "ioprio_set": {"which", "who"}, "ptrace": {"", "pid"},
	"process_vm_readv": {"pid"}, "process_vm_writev": {"pid"},
	"socket": {"family", "type", "protocol"}, "socketpair": {"family"},
	"chmod": {"", "mode"}, "fchmod": {"", "mode"}, "fchmodat": {"", "", "mode"}, "fchmodat2": {"", "", "mode"},
	"creat": {"", "mode"}, "mknod": {"", "mode"}, "mknodat": {"", "", "mode"},
	"chown": {"", "owner", "group"}, "fchown": {"", "owner", "group"}, "lchown": {"", "owner", "group"},
	"fchownat": {"", "", "owner", "group"},
	"open":     {"", "flags", "mode"}, "openat": {"", "", "flags", "mode"},
}

// Rules gives what the filter closes under o, by the name of the call, those
// with several conditions in the order in which they are tried.
func Rules(o Options) ([]Rule, error) {
	a, err := o.arch()
	if err != nil {
		return nil, err
	}
	var out []Rule
	for _, r := range rules(o) {
		for _, name := range r.calls {
			if !slices.ContainsFunc(a.calls, func(c call) bool { return c.name == name }) {
				continue
			}
			for _, c := range r.clauses {
				out = append(out, Rule{Call: name, When: condition(name, c.when), Answer: answerNames[c.answer], Why: r.why})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Rule) int { return strings.Compare(a.Call, b.Call) })
	return out, nil
}

func condition(call string, tests []test) string {
	var all []string
	for _, t := range tests {
		all = append(all, argNames[call][t.arg]+" "+t.says)
	}
	return strings.Join(all, " and ")
}

// Text gives the rules as lines for people: the call, its answer, why, and
// when.
func Text(o Options) (string, error) {
	list, err := Rules(o)
	if err != nil {
		return "", err
	}
	a, _ := o.arch()
	var b strings.Builder
	fmt.Fprintf(&b, "calls of %s only: one of another architecture ends the process\n", a.name)
	fmt.Fprintf(&b, "calls that have no name here, above %d among them: ENOSYS\n", a.calls[len(a.calls)-1].nr)
	for _, r := range list {
		fmt.Fprintf(&b, "%-23s %-15s %s", r.Call, r.Answer, r.Why)
		if r.When != "" {
			fmt.Fprintf(&b, ": if %s", r.When)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
