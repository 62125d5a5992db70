package tokens

// An eventReader reads a stream of events (HTML Living Standard, 9.2.6) in
// pieces of any size, and has the data of each scanned as it comes.
type eventReader struct {
	scan *scanner
	line lineState
	n    int  // of the field's name
	cr   bool // the last byte was a CR, which a LF belongs to

	data  bool // the event has data
	whole int  // bytes of doneWord that its data is so far, -1 when it is not
	done  bool // the stream has said that it is over
	bad   bool // an event's data was no document
}

type lineState uint8

const (
	lineName  lineState = iota // in the field's name
	lineSpace                  // behind the colon of data
	lineData
	lineOther // of no interest
)

const (
	dataField = "data"
	// doneWord is OpenAI's last data, which is no JSON.
	doneWord = "[DONE]"
)

func (e *eventReader) write(b []byte) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if e.cr && c == '\n' {
			e.cr = false
			continue
		}
		e.cr = c == '\r'
		if c == '\n' || c == '\r' {
			e.endLine()
			continue
		}
		switch e.line {
		case lineName:
			e.inName(c)
		case lineSpace:
			e.line = lineData
			if c != ' ' {
				i += e.take(b[i:]) - 1
			}
		case lineData:
			i += e.take(b[i:]) - 1
		}
	}
}

func (e *eventReader) inName(c byte) {
	switch {
	case e.n == len(dataField) && c == ':':
		e.startData()
		e.line = lineSpace
	case e.n < len(dataField) && c == dataField[e.n]:
		e.n++
	default:
		e.line = lineOther
	}
}

// startData begins a line of data; lines of one event are joined by a LF.
func (e *eventReader) startData() {
	if e.data && e.whole != 0 {
		e.whole = -1
		e.scan.write([]byte{'\n'})
	}
	e.data = true
}

// take reads data to the end of its line.
func (e *eventReader) take(b []byte) int {
	n := 0
	for n < len(b) && b[n] != '\n' && b[n] != '\r' {
		n++
	}
	b = b[:n]
	for _, c := range b {
		if e.whole < 0 || e.whole == len(doneWord) || c != doneWord[e.whole] {
			e.whole = -1
			break
		}
		e.whole++
	}
	e.scan.write(b)
	return n
}

func (e *eventReader) endLine() {
	blank := e.line == lineName && e.n == 0
	if e.line == lineName && e.n == len(dataField) {
		e.startData() // the name alone is an empty line of data
	}
	e.line, e.n = lineName, 0
	if blank {
		e.endEvent()
	}
}

// endEvent ends the event under way, if there is one with data.
func (e *eventReader) endEvent() {
	switch {
	case e.whole == len(doneWord):
		e.done = true
	case e.data && e.scan.started() && e.scan.state != ended:
		e.bad = true
	}
	e.data, e.whole = false, 0
	e.scan.again()
}
