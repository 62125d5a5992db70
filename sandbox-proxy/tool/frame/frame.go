package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ContentType is the HTTP content type of a call in frames, and of its answer.
const ContentType = "application/vnd.lnk.tool-call"

// Kind is what a frame is.
type Kind byte

// What the caller says before the call begins.
const (
	// Word is one word of the call, in order, as its bytes are.
	Word Kind = 'a'
	// Folder is the caller's working folder.
	Folder Kind = 'd'
	// Terminal says that input and output are a terminal: see [TerminalOf].
	Terminal Kind = 't'
	// Go ends the call's description.
	Go Kind = 'g'
)

// What the caller says while it runs.
const (
	// Input is a part of standard input, InputEnd its end.
	Input    Kind = 'i'
	InputEnd Kind = 'e'
	// Signal is one byte, a signal's number on Linux.
	Signal Kind = 's'
	// Size is a new window size: see [SizeOf].
	Size Kind = 'w'
	// Broken is a stream's kind, that nobody reads any more.
	Broken Kind = 'b'
)

// What the bridge says.
const (
	// Started is that the tool runs: until then the call may wait for an
	// answer, and its terminal is the caller's as it was.
	Started Kind = 'y'
	// Output and Errors are parts of those streams; OutputEnd is a stream's
	// kind, that has ended.
	Output    Kind = 'o'
	Errors    Kind = 'r'
	OutputEnd Kind = 'z'
	// InputClosed is that the tool reads no more input.
	InputClosed Kind = 'h'
	// Exit is the end: see [ExitOf].
	Exit Kind = 'x'
	// Stopped is that the tool was stopped by its terminal.
	Stopped Kind = 'p'
	// Notice is a line for a person, while the call waits.
	Notice Kind = 'n'
	// Refused is a line that says why the call is not made, and the end.
	Refused Kind = 'm'
)

// Credit is said by both: a stream's kind and how many bytes of it were taken.
const Credit Kind = 'c'

const (
	// MaxPayload bounds a frame, in bytes: Linux takes no longer word in an
	// argument list (MAX_ARG_STRLEN, execve(2)).
	MaxPayload = 128 << 10
	// MaxPart is how much of a stream is put in one frame.
	MaxPart = 32 << 10

	headBytes = 4
)

// ErrTooLong is a frame longer than [MaxPayload].
var ErrTooLong = errors.New("a frame longer than any is")

// A Reader reads frames.
type Reader struct {
	r    *bufio.Reader
	head [headBytes]byte
	buf  []byte
}

// NewReader reads frames from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 8<<10)} }

// Next gives the next frame. Its payload is good until the next call. At the
// end between two frames the error is io.EOF, in one io.ErrUnexpectedEOF.
func (r *Reader) Next() (Kind, []byte, error) {
	if _, err := io.ReadFull(r.r, r.head[:]); err != nil {
		return 0, nil, err
	}
	n := int(r.head[1])<<16 | int(r.head[2])<<8 | int(r.head[3])
	if n > MaxPayload {
		return 0, nil, ErrTooLong
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	b := r.buf[:n]
	if _, err := io.ReadFull(r.r, b); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return Kind(r.head[0]), b, nil
}

// A Writer writes frames, from any number of goroutines.
type Writer struct {
	mu    sync.Mutex
	w     io.Writer
	flush func() error
	buf   []byte
}

// NewWriter writes each frame to w in one piece and then flushes it, where
// flush is not nil.
func NewWriter(w io.Writer, flush func() error) *Writer { return &Writer{w: w, flush: flush} }

// Write writes one frame.
func (w *Writer) Write(k Kind, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, err := Append(w.buf[:0], k, payload)
	if err != nil {
		return err
	}
	w.buf = b
	if _, err := w.w.Write(b); err != nil || w.flush == nil {
		return err
	}
	return w.flush()
}

// Append appends a frame to b.
func Append(b []byte, k Kind, payload []byte) ([]byte, error) {
	n := len(payload)
	if n > MaxPayload {
		return b, ErrTooLong
	}
	b = append(b, byte(k), byte(n>>16), byte(n>>8), byte(n))
	return append(b, payload...), nil
}

// A WindowOf is a terminal's size in characters.
type WindowOf struct{ Rows, Cols uint16 }

// SizeOf reads a [Size].
func SizeOf(b []byte) (w WindowOf, err error) {
	if len(b) != 4 {
		return w, fmt.Errorf("a window size of %d bytes", len(b))
	}
	return WindowOf{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])}, nil
}

// Bytes is the size as a [Size] has it.
func (w WindowOf) Bytes() []byte {
	b := binary.BigEndian.AppendUint16(nil, w.Rows)
	return binary.BigEndian.AppendUint16(b, w.Cols)
}

// TerminalOf reads a [Terminal]: the window's size, and whether errors go to
// the terminal too.
func TerminalOf(b []byte) (w WindowOf, errorsToo bool, err error) {
	if len(b) != 5 || b[4] > 1 {
		return w, false, errors.New("a terminal that is none")
	}
	w, err = SizeOf(b[:4])
	return w, b[4] == 1, err
}

// TerminalBytes is what [TerminalOf] reads.
func TerminalBytes(w WindowOf, errorsToo bool) []byte {
	b := append(w.Bytes(), 0)
	if errorsToo {
		b[4] = 1
	}
	return b
}

// An Ended is how a call ended: with a status, or by a signal where that is
// not 0.
type Ended struct{ Status, Signal uint8 }

// ExitOf reads an [Exit].
func ExitOf(b []byte) (e Ended, err error) {
	if len(b) != 2 {
		return e, fmt.Errorf("an end of %d bytes", len(b))
	}
	return Ended{b[0], b[1]}, nil
}

// Bytes is the end as an [Exit] has it.
func (e Ended) Bytes() []byte { return []byte{e.Status, e.Signal} }

// CreditOf reads a [Credit].
func CreditOf(b []byte) (stream Kind, n int, err error) {
	if len(b) != 5 {
		return 0, 0, fmt.Errorf("a credit of %d bytes", len(b))
	}
	v := binary.BigEndian.Uint32(b[1:])
	if v > WindowSize {
		return 0, 0, errors.New("a credit for more than was sent")
	}
	return Kind(b[0]), int(v), nil
}

// CreditBytes is what [CreditOf] reads.
func CreditBytes(stream Kind, n int) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(stream)}, uint32(n))
}
