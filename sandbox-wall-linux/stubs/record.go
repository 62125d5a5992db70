package stubs

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// An entry is what a run wrote down of one stub: a line of JSON. The lines of
// all stubs are there before the first stub is made, without the node; those
// with it follow when all are made. So a run that was killed in the middle left
// either no stub or a line for it.
type entry struct {
	Path string `json:"path,omitzero"`
	// Bytes is the path where it is not UTF-8, which JSON cannot hold.
	Bytes []byte `json:"bytes,omitempty"`
	// In is the folder that the stub is in.
	In Node `json:"in"`
	// Node is the stub's own; zero until it is made.
	Node Node `json:"node,omitzero"`
	// Unmarked is that the file system keeps no sticky bit, so that only the
	// node tells.
	Unmarked bool   `json:"unmarked,omitzero"`
	File     bool   `json:"file,omitzero"`
	Text     string `json:"text,omitzero"`
}

func writeEntries(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	for _, e := range entries {
		if !utf8.ValidString(e.Path) {
			e.Path, e.Bytes = "", []byte(e.Path)
		}
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes(), nil
}

// readEntries reads what is whole of a record: its last line may be torn, and
// a later line of a path stands for the earlier ones. What does not read as
// written by us ends it, and so does a path that no run would want.
func readEntries(text []byte) []entry {
	var entries []entry
	at := map[string]int{}
	for len(text) > 0 && len(entries) < maxWants {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		var e entry
		if !whole || json.Unmarshal(line, &e) != nil {
			break
		}
		if e.Bytes != nil {
			e.Path, e.Bytes = string(e.Bytes), nil
		}
		// Every line of ours says in which folder: without one, whatever stands
		// at the path would be taken for a stub.
		if !cleanPath(e.Path) || len(e.Text) > maxText || e.In == (Node{}) {
			break
		}
		text = rest
		if i, seen := at[e.Path]; seen {
			entries[i] = e
			continue
		}
		at[e.Path] = len(entries)
		entries = append(entries, e)
	}
	return entries
}
