package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Question is a call, or a page, that a person is asked about.
type Question struct {
	_ [0]func()

	// Sandbox is whose program asks.
	Sandbox string
	// Name is the tool's, or "open" for a page.
	Name string
	// Page is whether it is a page to be opened, and no tool's call.
	Page bool
	// Argv is the whole command line that would run.
	Argv []string
	// Folder is where; empty for a page.
	Folder string
}

// Shown is the command line as a person reads it: on one line, every word whole
// and told from the next, nothing in it that a terminal acts on.
func (q Question) Shown() string { return Shown(q.Argv) }

// An Asker puts calls to a person. It gives nil where the call may be made,
// else why not. It gives up when the context ends.
type Asker interface {
	Ask(ctx context.Context, q Question, notice func(string)) error
}

// ErrNobody is that there is nobody to ask.
var ErrNobody = errors.New("it has to be asked about, and there is nobody to ask")

// ErrDenied is the answer no.
var ErrDenied = errors.New("the answer was no")

// Shown writes words so that they are told apart and a terminal takes nothing
// of them for its own: a word that is not plain stands in quotes, with what
// cannot be printed, and what reorders text, escaped.
func Shown(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if plain(w) {
			b.WriteString(w)
		} else {
			b.WriteString(quoted(w))
		}
	}
	return b.String()
}

// quoted is strconv.Quote, and what shows as nothing escaped as well: a run of
// spaces, letters that are blank, marks that are drawn over what stands before
// them. Nobody should have to count those to read a call.
func quoted(w string) string {
	var b strings.Builder
	text := strconv.Quote(w)
	for i, r := range text {
		switch {
		case r == ' ' && (strings.HasPrefix(text[i+1:], " ") || strings.HasSuffix(text[:i], " ")):
			b.WriteString(`\x20`)
		case slices.Contains(blanks, r) || unicode.Is(unicode.M, r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// blanks are letters and symbols that are printed as nothing (Unicode 15:
// Hangul fillers, the braille pattern without a dot).
var blanks = []rune{0x115f, 0x1160, 0x2800, 0x3164, 0xffa0}

func plain(w string) bool {
	for i := range len(w) {
		c := w[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_./:=@%+,", c) >= 0) {
			return false
		}
	}
	return w != ""
}

// A refusal is why a call is not made, for the caller to read.
type refusal struct {
	status int // HTTP
	why    string
}

func (r *refusal) Error() string { return r.why }

func refuse(status int, format string, a ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, a...)}
}

// checkWords refuses words that no argument list can hold, or more than one
// call may have.
func checkWords(words []string) *refusal {
	if len(words) > maxWords {
		return refuse(413, "more than %d words", maxWords)
	}
	total := 0
	for i, w := range words {
		if strings.ContainsRune(w, 0) {
			return refuse(400, "word %d: a NUL byte, which no argument can hold", i+1)
		}
		if len(w) > maxWord {
			return refuse(413, "word %d: longer than %d bytes", i+1, maxWord)
		}
		total += len(w) + 1
	}
	if total > maxWordBytes {
		return refuse(413, "words of more than %d bytes", maxWordBytes)
	}
	return nil
}

// checkFolder refuses a working folder that is no path.
func checkFolder(dir string) *refusal {
	switch {
	case dir == "":
		return nil
	case len(dir) > maxFolder, strings.ContainsRune(dir, 0), !filepath.IsAbs(dir):
		return refuse(400, "the working folder: not an absolute path")
	}
	return nil
}
