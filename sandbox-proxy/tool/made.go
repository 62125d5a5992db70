package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// A Made is a call that is over, as far as others may know of it: none of its
// words, nor its folder, its input or its output. Any of them may hold what is
// nobody's to keep, a password among a command's words.
type Made struct {
	_ [0]func()

	// Name is the tool's, or "open" for a page.
	Name string
	// Words is how many words the call had; of a page it is none.
	Words int
	// Asked is whether a person had to be asked.
	Asked bool
	// Refused is why it was not made, or nil.
	Refused error
	// Ended is how the tool ended, where it was made.
	Ended frame.Ended
	// Cut is whether the caller was gone before, or the sandbox at its end.
	Cut bool
	// Host is a page's.
	Host string
}

// Outcome is that in a few words: "2 words, asked, status 1".
func (m Made) Outcome() string {
	var say []string
	add := func(format string, a ...any) { say = append(say, fmt.Sprintf(format, a...)) }
	switch {
	case m.Host != "":
		add("%s", m.Host)
	case m.Words == 1:
		add("1 word")
	case m.Words > 1:
		add("%d words", m.Words)
	}
	if m.Asked {
		add("asked")
	}
	switch {
	case m.Refused != nil, m.Name == "open":
	case m.Ended.Signal != 0:
		add("ended by signal %d", m.Ended.Signal)
	default:
		add("status %d", m.Ended.Status)
	}
	if m.Cut {
		add("its caller was gone")
	}
	return strings.Join(say, ", ")
}

// tell tells of a call that is over.
func (h *Host) tell(ctx context.Context, m Made) {
	if h.config.Made != nil {
		h.config.Made(ctx, m)
	}
}

// of is a call of the tool that is not over.
func (b *bridge) of(words []string) Made {
	return Made{Name: b.name, Words: len(words), Asked: b.tool.Asks(words)}
}
