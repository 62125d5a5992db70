package linuxwall

import (
	"fmt"
	"strings"
)

// Explain gives the plan to read: a line a step, with its reason.
func (p *Plan) Explain() string {
	var b strings.Builder
	line := func(verb, what, why string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-7s %-40s %s", verb, what, why), " ") + "\n")
	}
	line("net", p.netWords(), "")
	for _, dir := range p.Make {
		line("make", shown(dir), "settings: so that it is closed before it is there")
	}
	for _, h := range p.Placeholders {
		what := shown(h.Path)
		if h.Kind == Folder {
			what += "/"
		}
		line("hold", what, h.Because.String())
	}
	for _, s := range p.Steps {
		what := shown(s.At)
		switch s.Verb {
		case MakeLink:
			what += " -> " + shown(s.Text)
		case Read, Write:
			if s.From != s.At {
				what += " (" + shown(s.From) + ")"
			}
		}
		line(s.Verb.String(), what, s.Because.String())
	}
	for _, at := range p.Run {
		line("run", shown(at), "commands: it may be executed")
	}
	line("start", shown(p.Dir), "the program's current folder")
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note    %s\n", n)
	}
	return b.String()
}

func (p *Plan) netWords() string {
	switch p.Net {
	case Own:
		return "own: a loopback, empty"
	case Machine:
		return "machine: this machine's own"
	}
	return "given: by proxy-inside"
}
