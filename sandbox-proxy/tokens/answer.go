package tokens

import "strings"

// An Answer reads the body of one answer as it passes. It is for one
// goroutine, and must be ended.
type Answer struct {
	form   Form
	packed *unpacking // nil where the body is as it is
	lost   bool       // packed in a way that is not known
	body   body
}

// Answer is an answer of the form, its Content-Encoding as its head has it.
// Whether it is a stream is told by its first byte, since servers mislabel them.
func (form Form) Answer(contentEncoding string) *Answer {
	a := &Answer{form: form}
	a.body.start(form)
	switch coding := strings.ToLower(strings.TrimSpace(contentEncoding)); coding {
	case "", "identity":
	case "gzip", "x-gzip", "deflate":
		a.packed = unpack(coding, a.body.write)
	default:
		a.lost = true
	}
	return a
}

// Write reads a piece. It keeps nothing of b, and never fails.
func (a *Answer) Write(b []byte) (int, error) {
	switch {
	case a.lost:
	case a.packed != nil:
		a.packed.write(b)
	default:
		a.body.write(b)
	}
	return len(b), nil
}

// End gives what the answer used; metered is false where it gave no usage, or
// none that can be relied upon. Whole says that the body came to its end and
// was not cut.
func (a *Answer) End(whole bool) (u Usage, metered bool) {
	if a.packed != nil && !a.packed.end(whole) {
		a.lost = true
	}
	if a.lost || !a.body.end(whole) {
		return Usage{}, false
	}
	return a.form.read(&a.body.sum)
}

// A body is an answer's, with nothing packed.
type body struct {
	form     Form
	begun    bool
	mark     int // bytes of a byte order mark that were read
	streamed bool
	scan     scanner
	events   eventReader
	sum      found
	final    bool // the usage that is the answer's was given
	done     bool // a stream said that it is over
}

const byteOrderMark = "\xef\xbb\xbf"

func (d *body) start(form Form) {
	d.form = form
	d.scan = scanner{form: form, whole: d.document}
	d.events.scan = &d.scan
}

func (d *body) write(b []byte) {
	for !d.begun {
		if len(b) == 0 {
			return
		}
		switch c := b[0]; {
		case d.mark < len(byteOrderMark) && c == byteOrderMark[d.mark]:
			d.mark++
		case c == ' ', c == '\t', c == '\n', c == '\r':
		default:
			d.begun, d.streamed = true, c != '{' && c != '['
			continue
		}
		b = b[1:]
	}
	if d.streamed {
		d.events.write(b)
		return
	}
	d.scan.write(b)
}

// document takes what a document gave.
func (d *body) document(f *found) {
	switch {
	case d.form == Messages && d.streamed:
		_, output := f.get(outputTokens)
		d.final = d.final || f.event == messageDelta && output
		d.done = d.done || f.event == messageStop
	case d.form == Responses && d.streamed:
		if f.event != responseOver {
			return // nothing of it is final
		}
		d.final, d.done = true, true
	case d.form == Interactions && d.streamed:
		if f.event != interactionOver {
			return
		}
		d.final, d.done = true, true
	default:
		d.final = true
	}
	d.sum.add(f)
}

// end says whether the body was read to where its usage is known.
func (d *body) end(whole bool) bool {
	if !d.streamed {
		return d.final && d.scan.state == ended
	}
	if whole {
		d.events.endLine()
		d.events.endEvent()
	}
	return d.final && !d.events.bad && (whole || d.done || d.events.done)
}
