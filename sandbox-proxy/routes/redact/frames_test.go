package redact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func frameOf(first byte, payload string) string {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return string(b) + payload
}

// read gives the messages in frames, each behind its kind, a part as "+".
func readFrames(t *testing.T, frames []byte) (messages []string) {
	t.Helper()
	var open *string
	buf := make([]byte, 16)
	for r := bytes.NewReader(frames); r.Len() > 0; {
		first, n, _, err := readHead(r, buf)
		payload := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(r, payload)
		}
		if err != nil {
			t.Fatalf("%q: %v", frames, err)
		}
		kind := string('0' + rune(first&frameKind))
		switch {
		case first&frameControl != 0:
			messages = append(messages, kind+string(payload))
			continue
		case (open == nil) == (first&frameKind == 0):
			t.Fatalf("%q: a frame out of turn", frames)
		case open == nil:
			text := kind
			open = &text
		}
		*open += string(payload)
		if first&frameEnds != 0 {
			messages, open = append(messages, *open), nil
		}
	}
	if open != nil {
		messages = append(messages, *open+"…")
	}
	return messages
}

// A message is one text, wherever the host parts it and whatever it says between
// the parts; each message is by itself.
func TestFramesOfOneMessage(t *testing.T) {
	const value, placeholder = "ghp_A1b2C3d4E5f6", "ghp_Z9y8X7w6V5u4"
	r := New(value, placeholder).Fitted()
	long := strings.Repeat("x", 70000)
	for _, text := range []string{"<" + value + ">", value, long + value + value[:5]} {
		for at := max(0, len(text)-30); at <= len(text); at++ {
			end := min(at+3, len(text))
			sent := frameOf(0x01, text[:at]) + frameOf(0x89, value) + frameOf(0x00, text[at:end]) + frameOf(0x00, "") +
				frameOf(0x80, text[end:]) + frameOf(0x81, value[:4]) + frameOf(0x82, "after "+value)
			want := []string{"9" + placeholder, "1" + strings.ReplaceAll(text, value, placeholder), "1" + value[:4], "2after " + placeholder}
			readers := []io.Reader{strings.NewReader(sent), iotest.OneByteReader(strings.NewReader(sent))}
			if len(text) > 100 {
				readers = readers[:1]
			}
			for _, from := range readers {
				var out bytes.Buffer
				if err := Frames(&out, from, r); err != io.EOF {
					t.Fatal(err)
				}
				got := readFrames(t, out.Bytes())
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Fatalf("cut at %d of %d: %.200q, want %.200q", at, len(text), got, want)
				}
			}
		}
	}
}

// What does not wait for the rest of its message does not wait for it.
func TestFramesPassOn(t *testing.T) {
	r := New("ghp_A1b2C3d4E5f6", "ghp_Z9y8X7w6V5u4").Fitted()
	var out bytes.Buffer
	if err := Frames(&out, strings.NewReader(frameOf(0x02, "one")+frameOf(0x00, "two ghp_")), r); err != io.EOF {
		t.Error(err)
	}
	if got := readFrames(t, out.Bytes()); len(got) != 1 || got[0] != "2onetwo …" {
		t.Errorf("%q", got)
	}
	if err := Frames(io.Discard, strings.NewReader(frameOf(0x01, "a")+frameOf(0x81, "b")), r); !errors.Is(err, errTurn) {
		t.Error(err)
	}
}
