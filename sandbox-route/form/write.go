package form

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// Append appends v as one compact JSON value and a newline. Members stand in
// the order of v's fields, those of a map sorted. It writes nothing longer
// than [Read] reads.
func Append(b []byte, v any) ([]byte, error) {
	out, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return b, fmt.Errorf("writing it: %w", err)
	}
	if len(out)+1 > MaxBytes {
		return b, Refuse("more than 1 MiB")
	}
	return append(append(b, out...), '\n'), nil
}

// Write writes v as [Append] gives it, in one call of Write.
func Write(w io.Writer, v any) error {
	b, err := Append(nil, v)
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("writing it: %w", err)
	}
	return nil
}
