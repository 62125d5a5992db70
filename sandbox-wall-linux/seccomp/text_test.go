package seccomp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A said is what the filter does to one call, in words.
type said struct {
	call   string // its name, as in man 2
	when   string // which arguments are meant; empty means every call
	answer string // the errno it gets
	why    string
}

var answerNames = map[answer]string{
	eperm: "EPERM", enosys: "ENOSYS", eprotonosupport: "EPROTONOSUPPORT",
	esocktnosupport: "ESOCKTNOSUPPORT", eafnosupport: "EAFNOSUPPORT",
}

var argNames = map[string][]string{
	"kill":  {"target"},
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

// inWords gives what the filter closes under o, by the name of the call, those
// with several conditions in the order in which they are tried.
func inWords(t *testing.T, o Options) []said {
	a, err := o.arch()
	if err != nil {
		t.Fatal(err)
	}
	var out []said
	for _, r := range rules(o) {
		for _, name := range r.calls {
			if !slices.ContainsFunc(a.calls, func(c call) bool { return c.name == name }) {
				continue
			}
			for _, c := range r.clauses {
				out = append(out, said{name, condition(name, c.when), answerNames[c.answer], r.why})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b said) int { return strings.Compare(a.call, b.call) })
	return out
}

func condition(call string, tests []test) string {
	var all []string
	for _, t := range tests {
		all = append(all, argNames[call][t.arg]+" "+t.says)
	}
	return strings.Join(all, " and ")
}

// text gives the rules as lines for people: the call, its answer, why, and
// when.
func text(t *testing.T, o Options) string {
	list := inWords(t, o)
	a, _ := o.arch()
	var b strings.Builder
	fmt.Fprintf(&b, "calls of %s only: one of another architecture ends the process\n", a.name)
	fmt.Fprintf(&b, "calls that have no name here, above %d among them: ENOSYS\n", a.calls[len(a.calls)-1].nr)
	for _, r := range list {
		fmt.Fprintf(&b, "%-23s %-15s %s", r.call, r.answer, r.why)
		if r.when != "" {
			fmt.Fprintf(&b, ": if %s", r.when)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
