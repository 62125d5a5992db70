package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// A Redactor replaces the forms of one value by those of its placeholder. It
// never changes; the zero Redactor replaces nothing.
type Redactor struct {
	pairs  []pair
	longer bool // a replacement differs in length from what it replaces
	least  int  // the shortest form's length
}

// A pair is a form of the value and what stands for it.
type pair struct {
	form, instead []byte
	low           string // the form in lower case
}

// New makes a redactor. The part of the value that is the secret ([PartOf]) is
// replaced by itself too. An empty value is never found.
func New(value, placeholder string) *Redactor {
	r := &Redactor{}
	if value == "" || value == placeholder {
		return r
	}
	for _, p := range forms(value, placeholder) {
		r.add(p[0], p[1])
	}
	if part := PartOf(value); part.Secret != value && len(part.Secret) >= leastPart {
		instead := stretch("x", len(part.Secret))
		if of := PartOf(placeholder); of.Scheme == part.Scheme && of.Basic == part.Basic {
			instead = of.Secret
		}
		for _, p := range forms(part.Secret, instead) {
			r.add(p[0], p[1])
		}
	}
	r.order()
	return r
}

// With gives a redactor that replaces one more form too: a credential that the
// value is part of, as it was sent, by what the program sent.
func (r *Redactor) With(sent, said string) *Redactor {
	more := &Redactor{pairs: slices.Clip(slices.Clone(r.pairs)), longer: r.longer, least: r.least}
	more.add(sent, said)
	more.order()
	return more
}

func (r *Redactor) add(form, instead string) {
	if form == "" || form == instead || slices.ContainsFunc(r.pairs, func(p pair) bool { return string(p.form) == form }) {
		return
	}
	r.pairs = append(r.pairs, pair{[]byte(form), []byte(instead), strings.ToLower(form)})
	if r.least == 0 || len(form) < r.least {
		r.least = len(form)
	}
	r.longer = r.longer || len(form) != len(instead)
}

// order puts longer forms first: of two that begin at one place the longer is
// the one that is there.
func (r *Redactor) order() {
	slices.SortStableFunc(r.pairs, func(a, b pair) int { return cmp.Compare(len(b.form), len(a.form)) })
}

// SameLength says whether what is replaced keeps its length, so that a body's
// length may be told before it is read.
func (r *Redactor) SameLength() bool { return !r.longer }

// String gives a text with every form replaced.
func (r *Redactor) String(s string) string {
	if !r.In(s) {
		return s
	}
	out, _ := r.replace([]byte(s))
	return string(out)
}

// In says whether a text holds a form.
func (r *Redactor) In(s string) bool {
	if len(s) < r.least {
		return false
	}
	return slices.ContainsFunc(r.pairs, func(p pair) bool { return strings.Contains(s, string(p.form)) })
}

// replace gives b with every whole form replaced, and where in what it gives
// the last of them ends. b itself is given where it holds none.
func (r *Redactor) replace(b []byte) (out []byte, end int) {
	at, which := r.first(b)
	if which < 0 {
		return b, 0
	}
	for rest := b; ; {
		p := r.pairs[which]
		out = append(append(out, rest[:at]...), p.instead...)
		end = len(out)
		rest = rest[at+len(p.form):]
		if at, which = r.first(rest); which < 0 {
			return append(out, rest...), end
		}
	}
}

// first finds the form that begins first in b.
func (r *Redactor) first(b []byte) (at, which int) {
	which = -1
	for i, p := range r.pairs {
		n := bytes.Index(b, p.form)
		if n >= 0 && (which < 0 || n < at) {
			at, which = n, i
			b = b[:min(len(b), at+len(r.pairs[0].form))]
		}
	}
	return at, which
}

// begun gives how many bytes at the end of b may be the beginning of a form.
func (r *Redactor) begun(b []byte) int {
	longest := 0
	for _, p := range r.pairs {
		for n := min(len(p.form)-1, len(b)); n > longest; n-- {
			if b[len(b)-n] == p.form[0] && bytes.HasPrefix(p.form, b[len(b)-n:]) {
				longest = n
				break
			}
		}
	}
	return longest
}

// A Stream replaces what comes in pieces.
type Stream struct {
	redactor *Redactor
	held     []byte // the beginning of a form, perhaps
	joined   []byte
}

// Stream makes one for one body.
func (r *Redactor) Stream() *Stream { return &Stream{redactor: r} }

// Next takes the next piece and gives what can be passed on; last says that
// nothing follows. What it gives holds until the next call, and may be p.
func (s *Stream) Next(p []byte, last bool) []byte {
	r := s.redactor
	if len(r.pairs) == 0 {
		return p
	}
	if len(s.held) > 0 {
		s.joined = append(append(s.joined[:0], s.held...), p...)
		p = s.joined
	}
	out, end := r.replace(p)
	hold := 0
	if !last {
		hold = r.begun(out[end:])
	}
	s.held = append(s.held[:0], out[len(out)-hold:]...)
	return out[:len(out)-hold]
}

// Fitted gives a redactor whose replacements are as long as what they replace:
// cut, or filled up with x.
func (r *Redactor) Fitted() *Redactor {
	fitted := &Redactor{}
	for _, p := range r.pairs {
		instead := string(p.instead)
		if len(instead) < len(p.form) {
			instead += strings.Repeat("x", len(p.form)-len(instead))
		}
		fitted.add(string(p.form), instead[:len(p.form)])
	}
	return fitted
}

// InFold is [Redactor.In] in any case of letters: of a header's name, whose case
// is changed on the way.
func (r *Redactor) InFold(s string) bool {
	if len(s) < r.least {
		return false
	}
	s = strings.ToLower(s)
	return slices.ContainsFunc(r.pairs, func(p pair) bool { return strings.Contains(s, p.low) })
}
