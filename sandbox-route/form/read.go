package form

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBytes is how long a form may be: 1 MiB. A longer one is refused before
// it is parsed.
const MaxBytes = 1 << 20

// A Shape reads one JSON value into what it was made with.
type Shape func(*Decoder)

// Decoder reads the tokens of one value and knows where it stands. The first
// refusal stays; nothing is read after it.
type Decoder struct {
	in   *jsontext.Decoder
	path []string
	err  error
}

// Read reads one value of at most [MaxBytes], and nothing after it. What it
// was read into is of no use when there is an error.
func Read(r io.Reader, shape Shape) error {
	b, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	return Unmarshal(b, shape)
}

// Unmarshal is [Read] of bytes at hand.
func Unmarshal(b []byte, shape Shape) error {
	if len(b) > MaxBytes {
		return Refuse("more than 1 MiB")
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return Refuse("empty, want a JSON value")
	}
	d := &Decoder{in: jsontext.NewDecoder(bytes.NewReader(b))}
	shape(d)
	if d.err != nil {
		return d.err
	}
	if _, err := d.in.ReadToken(); err != io.EOF {
		return Refuse("something follows the value")
	}
	return nil
}

// Refuse refuses the value that is being read.
func (d *Decoder) Refuse(problem string) { d.refuseAt("", problem) }

// RefuseMember refuses the member called name of the object that is being read.
func (d *Decoder) RefuseMember(name, problem string) { d.refuseAt("/"+escapeToken(name), problem) }

func (d *Decoder) refuseAt(below, problem string) {
	if d.err != nil {
		return
	}
	var p strings.Builder
	for _, name := range d.path {
		p.WriteString("/" + escapeToken(name))
	}
	d.err = &Error{Pointer: p.String() + below, Problem: problem}
}

// Failed says whether something was refused already.
func (d *Decoder) Failed() bool { return d.err != nil }

// next reads a token. What it gives is only good until the next one.
func (d *Decoder) next() (jsontext.Token, bool) {
	if d.err != nil {
		return jsontext.Token{}, false
	}
	tok, err := d.in.ReadToken()
	if err == nil {
		return tok, true
	}
	var syn *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syn):
		d.RefuseMember(syn.JSONPointer.LastToken(), "repeated")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		d.Refuse("not JSON: it ends too early")
	case errors.As(err, &syn):
		d.Refuse("not JSON: " + fault(syn.Err) + " (byte " + strconv.FormatInt(syn.ByteOffset, 10) + ")")
	default:
		d.Refuse("not JSON")
	}
	return jsontext.Token{}, false
}

// fault says what is wrong with a text that is not JSON. The library's words
// are kept where they show one character; some show the text around it, which
// may be a secret's.
func fault(err error) string {
	for _, known := range []string{"invalid character", "invalid UTF-8", "object member name"} {
		if s := err.Error(); strings.HasPrefix(s, known) {
			return s
		}
	}
	return "invalid text"
}

// is says whether a value of kind k comes next; another is refused as not
// being a want.
func (d *Decoder) is(k jsontext.Kind, want string) bool {
	if d.err != nil {
		return false
	}
	got := d.in.PeekKind()
	if got == k || got == jsontext.KindInvalid {
		// An invalid one is left to next, which says what is wrong with it.
		return true
	}
	d.Refuse("want " + want + ", got " + kindName(got))
	return false
}

// Peek says what comes next: "a string", "an object", "true or false", …
func (d *Decoder) Peek() string {
	if d.err != nil {
		return ""
	}
	return kindName(d.in.PeekKind())
}

func kindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return IsBool
	case jsontext.KindString:
		return IsString
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return IsObject
	case jsontext.KindBeginArray:
		return IsList
	}
	return "something else"
}

// What [Decoder.Peek] gives.
const (
	IsBool   = "true or false"
	IsString = "a string"
	IsObject = "an object"
	IsList   = "a list"
)

// in reads one value as the member or item called name.
func (d *Decoder) within(name string, shape Shape) {
	if d.err != nil {
		return
	}
	d.path = append(d.path, name)
	shape(d)
	d.path = d.path[:len(d.path)-1]
}

// Line gives what comes before the first newline of r, or its end. It may
// read on past it, and what it read there is lost.
func Line(r io.Reader) io.Reader { return &line{r: r} }

type line struct {
	r    io.Reader
	done bool
}

// Read ends at a newline.
func (l *line) Read(b []byte) (int, error) {
	if l.done {
		return 0, io.EOF
	}
	n, err := l.r.Read(b)
	if i := bytes.IndexByte(b[:n], '\n'); i >= 0 {
		l.done = true
		return i, io.EOF
	}
	return n, err
}
