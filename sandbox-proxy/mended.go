package proxy

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// What an answer says of its body more than once, and means alike, is said once:
// net/http takes none of it, and servers send it, which browsers and curl take.
// Where a reader could understand two things it stays as it is, and is refused.
// Of requests nothing is (RFC 9112 sections 6.1 and 6.3 are about both).

// from reads an answer, or what goes on of one, from r into b. Its head is held
// until it is whole, and comes as one reader of it can understand it: in as many
// pieces as it takes where b is smaller.
func (a *answerHead) from(r io.Reader, b []byte) (n int, err error) {
	if len(a.held) == 0 && a.after == nil {
		n, err = r.Read(b)
		for err == nil && n > 0 && n < len(b) && a.unread(b[:n]) {
			// There is nothing to do with a part of a head.
			var more int
			more, err = r.Read(b[n:])
			n += more
		}
		if err != nil || n == 0 || n < len(b) || !a.unread(b) {
			a.mend(b[:n])
			a.saw(b[:n])
			return n, err
		}
		a.held, a.after = wholeHead(r, b)
		a.mend(a.held)
	}
	n = copy(b, a.held)
	a.saw(b[:n])
	if a.held = a.held[n:]; len(a.held) > 0 {
		return n, nil
	}
	err, a.held, a.after = a.after, nil, nil
	return n, err
}

// wholeHead reads on from r until the head is whole of which b, behind interim
// answers, is the begin; or until it is longer than any that is taken.
func wholeHead(r io.Reader, b []byte) (held []byte, err error) {
	held = append(make([]byte, 0, 2*len(b)), b...)
	for at, seen := 0, 0; err == nil && at < len(held) && len(held) <= maxHeadBytes; {
		end := answerHeadEnd(held[at:], seen)
		switch {
		case end > 0 && !interimHead(held[at:at+end]):
			return held, nil
		case end > 0:
			at, seen = at+end, 0
			continue
		}
		seen = len(held) - at
		held = slices.Grow(held, firstBytes)
		var n int
		n, err = r.Read(held[len(held):cap(held)])
		held = held[:len(held)+n]
	}
	return held, err
}

// unread says whether b, which is to be an answer's first bytes, ends within a
// head. Whole heads of interim answers are not held up: a program waits for them.
func (a *answerHead) unread(b []byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.on || len(a.b) > 0 {
		return false
	}
	const version = "HTTP/"
	for {
		if len(b) == 0 || !bytes.HasPrefix(b, []byte(version[:min(len(b), len(version))])) {
			return false // it is none, and is not waited for
		}
		end := answerHeadEnd(b, 0)
		if end == 0 || !interimHead(b[:end]) {
			return end == 0
		}
		b = b[end:]
	}
}

// mend writes over the fields of the answer's head in b, if it begins there and
// is whole. No byte of it moves.
func (a *answerHead) mend(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.on || len(a.b) > 0 {
		return
	}
	for {
		end := answerHeadEnd(b, 0)
		if end == 0 {
			return
		}
		if !interimHead(b[:end]) {
			mendHead(b[:end])
			return
		}
		b = b[end:]
	}
}

// framingField is a line of a head that says how its body ends.
type framingField struct {
	line, value []byte
}

func mendHead(head []byte) {
	var lengths [][]byte
	var codings []framingField
	of := map[string]bool{}
	_, rest, _ := bytes.Cut(head, []byte("\n"))
	for line := range bytes.Lines(rest) {
		line = bytes.TrimRight(line, "\r\n")
		if bytes.HasPrefix(line, []byte(" ")) || bytes.HasPrefix(line, []byte("\t")) {
			return // it goes on with the line before
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		switch {
		case !ok:
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths = append(lengths, value)
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			codings = append(codings, framingField{line, value})
			for coding := range strings.SplitSeq(string(value), ",") {
				of[strings.ToLower(strings.Trim(coding, " \t"))] = true
			}
		}
	}
	for _, value := range lengths {
		if n, alike := oneOf(value); alike {
			blank(value)
			copy(value, n)
		}
	}
	if len(of) != 1 || !of["identity"] && !of["chunked"] {
		return
	}
	for i, f := range codings {
		if i == 0 && of["chunked"] {
			blank(f.value)
			copy(f.value, "chunked")
			continue
		}
		// A field that ends here and says nothing.
		blank(f.line)
		copy(f.line, "Keep-Alive:")
	}
}

// oneOf is the number that a list holds more than once, and no other.
func oneOf(value []byte) (number string, alike bool) {
	all := strings.Split(string(value), ",")
	number = strings.Trim(all[0], " \t")
	for _, other := range all {
		if strings.Trim(other, " \t") != number {
			return "", false
		}
	}
	return number, len(all) > 1 && number != "" && strings.Trim(number, "0123456789") == ""
}

func blank(b []byte) {
	for i := range b {
		b[i] = ' '
	}
}
