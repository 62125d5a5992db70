package tokens

const (
	// maxDepth bounds how deep an answer's JSON may nest.
	maxDepth = 512
	// maxText bounds the names, short strings and numbers that are looked at;
	// a longer one is none of ours.
	maxText = 32
	// maxPath is how deep what we look for lies.
	maxPath = 5
)

type state uint8

const (
	wantValue state = iota
	wantFirst       // a value, or the end of an empty array
	wantName
	wantFirstName // a name, or the end of an empty object
	wantColon
	wantNext // a comma or an end
	inString
	inEscape
	inHex
	inMinus // in numbers, RFC 8259 section 6
	inZero
	inWhole
	inPoint
	inFraction
	inExponent
	inExponentSign
	inExponentDigits
	inLiteral
	ended
	broken
)

// A scanner reads JSON in pieces of any size and finds what [found] holds.
// It holds where it is, never what it has read. Its zero value, with a form,
// stands at the start of a document.
type scanner struct {
	form    Form
	found   found
	state   state
	depth   int
	objects [maxDepth / 64]uint64 // a bit a level: an object, else an array
	path    [maxPath]name         // of the levels that we look at
	text    [maxText]byte         // of what is being read
	n       int
	long    bool // it did not fit, or is escaped
	isName  bool // the string is one
	hex     int
	literal string
	// whole is called at the end of the document, and of each element where
	// the document is an array (Google streams so).
	whole func(*found)
}

// write reads on.
func (s *scanner) write(b []byte) {
	for i := 0; i < len(b) && s.state != broken; i++ {
		if s.state == inString {
			if i += s.plain(b[i:]); i == len(b) {
				return
			}
		}
		s.step(b[i])
	}
}

// plain reads what only continues a string.
func (s *scanner) plain(b []byte) int {
	n := 0
	for n < len(b) && b[n] != '"' && b[n] != '\\' && b[n] >= ' ' {
		n++
	}
	s.keep(b[:n])
	return n
}

func (s *scanner) keep(b []byte) {
	n := copy(s.text[s.n:], b)
	s.n += n
	s.long = s.long || n < len(b)
}

func (s *scanner) step(c byte) {
	switch s.state {
	case inString:
		s.inString(c)
		return
	case inEscape:
		s.escaped(c)
		return
	case inHex:
		if !isHex(c) {
			s.state = broken
		} else if s.hex--; s.hex == 0 {
			s.state = inString
		}
		return
	case inLiteral:
		s.inLiteral(c)
		return
	case inMinus, inZero, inWhole, inPoint, inFraction, inExponent, inExponentSign, inExponentDigits:
		next := s.number(c)
		if next != wantNext {
			s.state = next
			s.keep([]byte{c})
			return
		}
		s.scalar(aNumber)
	}
	if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return
	}
	s.between(c)
}

// between reads what stands between names and values, and starts them.
func (s *scanner) between(c byte) {
	switch s.state {
	case wantFirst:
		if c == ']' {
			s.leave()
			return
		}
		s.value(c)
	case wantValue:
		s.value(c)
	case wantFirstName, wantName:
		switch {
		case c == '"':
			s.isName = true
			s.start(inString)
		case c == '}' && s.state == wantFirstName:
			s.leave()
		default:
			s.state = broken
		}
	case wantColon:
		if s.state = wantValue; c != ':' {
			s.state = broken
		}
	case wantNext:
		switch {
		case c == ',' && s.inObject():
			s.state = wantName
		case c == ',':
			s.state = wantValue
		case c == '}' && s.inObject(), c == ']' && !s.inObject():
			s.leave()
		default:
			s.state = broken
		}
	default:
		s.state = broken // more, behind the end
	}
}

// value starts a value.
func (s *scanner) value(c byte) {
	switch {
	case c == '{', c == '[':
		s.enter(c == '{')
	case s.depth == 0:
		s.state = broken // an answer is no bare scalar
	case c == '"':
		s.isName = false
		s.start(inString)
	case c == '-' || '0' <= c && c <= '9':
		s.start(firstOfNumber(c))
		s.keep([]byte{c})
	case c == 't':
		s.start(inLiteral)
		s.literal = "rue"
	case c == 'f':
		s.start(inLiteral)
		s.literal = "alse"
	case c == 'n':
		s.start(inLiteral)
		s.literal = "ull"
	default:
		s.state = broken
	}
}

func (s *scanner) start(in state) { s.state, s.n, s.long = in, 0, false }

func (s *scanner) inObject() bool {
	d := s.depth - 1
	return s.objects[d/64]>>(d%64)&1 == 1
}

func (s *scanner) enter(object bool) {
	if s.depth == maxDepth {
		s.state = broken
		return
	}
	word, bit := &s.objects[s.depth/64], uint64(1)<<(s.depth%64)
	*word &^= bit
	s.state = wantFirst
	if object {
		*word |= bit
		s.state = wantFirstName
	}
	if s.depth < maxPath {
		s.path[s.depth] = inArray
	}
	s.depth++
}

func (s *scanner) leave() {
	s.depth--
	s.state = wantNext
	if s.depth < maxPath {
		s.found.left(s.form, s.path[:s.depth])
	}
	switch {
	case s.depth == 0:
		if s.state = ended; s.objects[0]&1 == 1 {
			s.document()
		}
	case s.depth == 1 && !s.inObject():
		s.document()
	}
}

func (s *scanner) document() {
	s.whole(&s.found)
	s.found = found{}
}

// again stands at the start of the next document.
func (s *scanner) again() { *s = scanner{form: s.form, whole: s.whole} }

func (s *scanner) inString(c byte) {
	switch {
	case c == '"' && s.isName:
		if s.state = wantColon; s.depth <= maxPath {
			s.path[s.depth-1] = nameOf(s.text[:s.n], s.long)
		}
	case c == '"':
		s.scalar(aString)
	case c == '\\':
		s.state, s.long = inEscape, true
	default:
		s.state = broken // a control character
	}
}

func (s *scanner) escaped(c byte) {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.state = inString
	case 'u':
		s.state, s.hex = inHex, 4
	default:
		s.state = broken
	}
}

func (s *scanner) inLiteral(c byte) {
	if c != s.literal[0] {
		s.state = broken
		return
	}
	if s.literal = s.literal[1:]; s.literal == "" {
		kind := aBool
		if c == 'l' {
			kind = aNull
		}
		s.scalar(kind)
	}
}

// scalar ends a value that holds no others.
func (s *scanner) scalar(kind kind) {
	s.state = wantNext
	if s.depth <= maxPath {
		s.found.note(s.form, s.path[:s.depth], kind, s.text[:s.n], s.long)
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// started says whether the document has begun.
func (s *scanner) started() bool { return s.state != wantValue || s.depth > 0 }
