package frame

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

// What is written is read, and whatever is read is bounded and reads the same
// once written again.
func FuzzFrames(f *testing.F) {
	one, _ := Append(nil, Word, []byte("pr list"))
	two, _ := Append(one, Go, nil)
	f.Add(two)
	f.Add([]byte{'o', 0xff, 0xff, 0xff})
	f.Add([]byte{'o', 0, 0, 9, 'x'})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		var again []byte
		for {
			k, p, err := r.Next()
			if err != nil {
				if !bytes.HasPrefix(b, again) {
					t.Fatalf("%q is read as %q", b, again)
				}
				if err == io.EOF && len(again) != len(b) {
					t.Fatalf("an end in the middle of %q", b)
				}
				return
			}
			if len(p) > MaxPayload {
				t.Fatal("a payload past the bound")
			}
			again, _ = Append(again, k, p)
		}
	})
}

func TestWriteRefusesWhatReadWould(t *testing.T) {
	w := NewWriter(io.Discard, nil)
	if err := w.Write(Word, make([]byte, MaxPayload)); err != nil {
		t.Error(err)
	}
	if err := w.Write(Word, make([]byte, MaxPayload+1)); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}

func TestForms(t *testing.T) {
	if w, both, err := TerminalOf(TerminalBytes(WindowOf{24, 80}, true)); err != nil || !both || w != (WindowOf{24, 80}) {
		t.Error(w, both, err)
	}
	if e, err := ExitOf(Ended{130, 2}.Bytes()); err != nil || e != (Ended{130, 2}) {
		t.Error(e, err)
	}
	if s, n, err := CreditOf(CreditBytes(Output, 5)); err != nil || s != Output || n != 5 {
		t.Error(s, n, err)
	}
	for _, b := range [][]byte{nil, {1}, {1, 2, 3}, {1, 2, 3, 4, 5, 6}, {'o', 0xff, 0, 0, 0}} {
		if _, err := SizeOf(b); err == nil {
			t.Errorf("a size of %q", b)
		}
		if _, _, err := CreditOf(b); err == nil {
			t.Errorf("a credit of %q", b)
		}
		if _, err := ExitOf(b); err == nil {
			t.Errorf("an end of %q", b)
		}
	}
	if _, _, err := TerminalOf([]byte{0, 1, 0, 1, 2}); err == nil {
		t.Error("a terminal with a third way")
	}
}

// A window is never more than itself, and a queue never holds more than one.
func TestWindow(t *testing.T) {
	w, q := NewWindow(), NewQueue()
	for left := WindowSize; left > 0; {
		n := w.Take(MaxPart)
		if err := q.Put(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		left -= n
	}
	if err := q.Put([]byte{1}); !errors.Is(err, ErrWindow) {
		t.Error("a queue took more than a window:", err)
	}
	more := make(chan int, 1)
	go func() { more <- w.Take(1) }()
	select {
	case <-more:
		t.Fatal("more than a window was taken")
	case <-time.After(20 * time.Millisecond):
	}
	part, err := q.Take()
	if err != nil {
		t.Fatal(err)
	}
	q.Took(len(part))
	if err := w.Give(len(part)); err != nil || <-more != 1 {
		t.Fatal(err)
	}
	if err := w.Give(WindowSize); !errors.Is(err, ErrWindow) {
		t.Error("credit for what was never sent:", err)
	}
	w.Close()
	if n := w.Take(1); n != 0 {
		t.Error("a closed window gave", n)
	}
}

// Single bytes are not kept one by one.
func TestQueueOfBytes(t *testing.T) {
	q := NewQueue()
	for range 1000 {
		q.Put([]byte("x"))
	}
	q.End()
	if part, err := q.Take(); err != nil || len(part) != 1000 {
		t.Error(len(part), err)
	}
	if _, err := q.Take(); err != io.EOF {
		t.Error(err)
	}
	if err := q.Put([]byte("x")); err == nil {
		t.Error("more came after the end")
	}
}

func TestDroppedQueue(t *testing.T) {
	q := NewQueue()
	q.Put([]byte("x"))
	q.Drop()
	q.Put([]byte("y"))
	if _, err := q.Take(); err != io.EOF {
		t.Error(err)
	}
}
