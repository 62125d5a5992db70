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
	others *targets
	folded []string // forms in lower case
}

// A pair is a form of the value and what stands for it.
type pair struct {
	form, instead []byte
}

// New makes a redactor. The part of the value that is the secret ([PartOf]) is
// replaced by itself too. An empty value is never found.
func New(value, placeholder string) *Redactor {
	r := &Redactor{}
	if value == "" || value == placeholder {
		return r
	}
	secret, instead := value, placeholder
	r.plain(secret, instead)
	if part := PartOf(value); part.Secret != value && len(part.Secret) >= leastPart {
		secret, instead = part.Secret, stretch("x", len(part.Secret))
		if of := PartOf(placeholder); of.Scheme == part.Scheme && of.Basic == part.Basic {
			instead = of.Secret
		}
		r.plain(secret, instead)
	}
	r.others = targetsOf(secret, instead)
	for i := range r.others.all {
		r.least = min(r.least, len(r.others.all[i].text))
	}
	r.order()
	return r
}

// plain adds a secret as it is, and those of its forms that no target has: of
// one with backslashes, or with letters of more than a byte; and where what
// stands for it is not as long, those in which all of that can stand.
func (r *Redactor) plain(secret, instead string) {
	r.add(secret, instead)
	for _, p := range forms(secret, instead) {
		r.folded = append(r.folded, strings.ToLower(p[0]))
		if len(secret) != len(instead) || strings.ContainsFunc(secret, func(c rune) bool { return c == '\\' || c >= 0x80 }) {
			r.add(p[0], p[1])
		}
	}
}

// With gives a redactor that replaces one more form too: a credential that the
// value is part of, as it was sent, by what the program sent.
func (r *Redactor) With(sent, said string) *Redactor {
	more := &Redactor{pairs: slices.Clip(slices.Clone(r.pairs)), longer: r.longer, least: r.least, others: r.others, folded: slices.Clip(r.folded)}
	more.add(sent, said)
	more.folded = append(more.folded, strings.ToLower(sent))
	more.order()
	return more
}

func (r *Redactor) add(form, instead string) {
	if form == "" || form == instead || slices.ContainsFunc(r.pairs, func(p pair) bool { return string(p.form) == form }) {
		return
	}
	r.pairs = append(r.pairs, pair{[]byte(form), []byte(instead)})
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

// Nothing says that there is nothing to be found.
func (r *Redactor) Nothing() bool { return len(r.pairs) == 0 }

// SameLength says whether what is replaced keeps its length, so that a body's
// length may be told before it is read.
func (r *Redactor) SameLength() bool { return !r.longer }

// String gives a text with every form replaced.
func (r *Redactor) String(s string) string {
	if !r.In(s) {
		return s
	}
	out, _ := r.replace([]byte(s))
	if r.others != nil {
		out, _ = r.others.replace(out, true)
	}
	return string(out)
}

// In says whether a text holds a form.
func (r *Redactor) In(s string) bool {
	if len(s) < r.least {
		return false
	}
	if slices.ContainsFunc(r.pairs, func(p pair) bool { return strings.Contains(s, string(p.form)) }) {
		return true
	}
	if r.others == nil {
		return false
	}
	_, _, of := r.others.find([]byte(s), 0, true)
	return of != nil
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
	plain    []byte // the beginning of a form, perhaps
	other    []byte // the beginning of a target, perhaps, in which every form is replaced
	joined   []byte
	again    []byte
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
	if len(s.plain) > 0 {
		s.joined = append(append(s.joined[:0], s.plain...), p...)
		p = s.joined
	}
	out, end := r.replace(p)
	hold := 0
	if !last {
		hold = r.begun(out[end:])
	}
	s.plain = append(s.plain[:0], out[len(out)-hold:]...)
	out = out[:len(out)-hold]
	if r.others == nil {
		return out
	}
	if len(s.other) > 0 {
		s.again = append(append(s.again[:0], s.other...), out...)
		out = s.again
	}
	out, to := r.others.replace(out, last)
	s.other = append(s.other[:0], out[to:]...)
	return out[:to]
}

// Fitted gives a redactor whose replacements are as long as what they replace:
// cut, or filled up with x.
func (r *Redactor) Fitted() *Redactor {
	fitted := &Redactor{others: r.others, folded: r.folded, least: r.least}
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
	if r.In(s) {
		return true
	}
	s = strings.ToLower(s)
	return slices.ContainsFunc(r.folded, func(form string) bool { return strings.Contains(s, form) })
}
