package tool

import (
	"bufio"
	"encoding/base64"
	"io"
	"strconv"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A jsonAnswer is how a call ended, in JSON:
//
//	{"status", "signal"?, "stdout", "stdout_base64"?, "stderr", "stderr_base64"?, "truncated"?}
type jsonAnswer struct {
	status    int
	signal    string
	out, errs kept
}

// drop gives back the room that it takes.
func (a *jsonAnswer) drop() {
	a.out.drop()
	a.errs.drop()
}

// write writes it piece by piece: what is escaped is six times as long, and
// many may be written at once, as slowly as they are read.
func (a *jsonAnswer) write(to io.Writer) error {
	w := bufio.NewWriterSize(to, quotedBytes)
	w.WriteString(`{"status":` + strconv.Itoa(a.status))
	if a.signal != "" {
		w.WriteString(`,"signal":"` + a.signal + `"`)
	}
	a.out.write(w, "stdout")
	a.errs.write(w, "stderr")
	if a.out.more || a.errs.more {
		w.WriteString(`,"truncated":true`)
	}
	w.WriteString("}\n")
	return w.Flush()
}

// room is what all answers of a host may hold together.
type room struct{ taken atomic.Int64 }

// take gives as much of n bytes as there is room for.
func (r *room) take(n int) int {
	if over := r.taken.Add(int64(n)) - maxAnswers; over > 0 {
		back := min(over, int64(n))
		r.taken.Add(-back)
		n -= int(back)
	}
	return n
}

// kept is the beginning of a stream.
type kept struct {
	room *room
	b    []byte
	more bool
}

func (k *kept) Write(p []byte) (int, error) {
	n := k.room.take(min(len(p), maxAnswer-len(k.b)))
	k.b = append(k.b, p[:n]...)
	k.more = k.more || n < len(p)
	return len(p), nil
}

func (k *kept) drop() {
	k.room.taken.Add(-int64(len(k.b)))
	k.b = nil
}

// quotedBytes is how much of a text is escaped at once.
const quotedBytes = 16 << 10

// write writes it as a member of an object, that of base64 behind an empty one
// where it is no text.
func (k *kept) write(w *bufio.Writer, name string) {
	text := k.b
	if !utf8.Valid(text) {
		text = nil
	}
	w.WriteString(`,"` + name + `":"`)
	var quoted []byte
	for len(text) > 0 {
		n := min(len(text), quotedBytes)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		quoted, _ = jsontext.AppendQuote(quoted[:0], text[:n]) // it is valid
		w.Write(quoted[1 : len(quoted)-1])
		text = text[n:]
	}
	w.WriteByte('"')
	if utf8.Valid(k.b) {
		return
	}
	w.WriteString(`,"` + name + `_base64":"`)
	e := base64.NewEncoder(base64.StdEncoding, w)
	e.Write(k.b)
	e.Close()
	w.WriteByte('"')
}
