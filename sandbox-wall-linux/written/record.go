package written

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Name is the record's file, in the sandbox's part of the settings folder.
const Name = "written.json"

// MaxBytes bounds a record.
const MaxBytes = 1 << 20

// slack is how much earlier than a folder was written what lies in it must have
// changed last to be taken for older: file systems keep times by a clock that
// ticks (inode(7)), and some by the second.
const slack = 2 * time.Second

// A Folder is one that sandboxes wrote.
type Folder struct {
	// Path is where it really is.
	Path string `json:"path,omitzero"`
	// Bytes is the path where it is not UTF-8, which JSON cannot hold.
	Bytes []byte `json:"bytes,omitempty"`
	// Since is when the first of them began, in nanoseconds since 1970.
	Since int64 `json:"since"`
}

// Folders are those of a record, each once.
type Folders []Folder

// Read reads a record: a line of JSON a folder. One is never written without
// any, so that an empty file is what a crash left of one.
func Read(text string) (Folders, error) {
	if text == "" {
		return nil, errors.New(Name + ": empty")
	}
	var all Folders
	for line := range strings.Lines(text) {
		var f Folder
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			return nil, fmt.Errorf("%s: %w", Name, err)
		}
		if f.Bytes != nil {
			f.Path, f.Bytes = string(f.Bytes), nil
		}
		if !path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path {
			return nil, fmt.Errorf("%s: %q: not a folder's path", Name, f.Path)
		}
		all = append(all, f)
	}
	return all, nil
}

func (all Folders) text() (string, error) {
	var b bytes.Buffer
	for _, f := range all {
		if !utf8.ValidString(f.Path) {
			f.Path, f.Bytes = "", []byte(f.Path)
		}
		line, err := json.Marshal(f)
		if err != nil {
			return "", err
		}
		b.Write(append(line, '\n'))
	}
	if b.Len() > MaxBytes {
		return "", errors.New("too many folders to remember")
	}
	return b.String(), nil
}

// Since gives the folder of the record in which a path lies and which was
// written first, where what lies there now may be of a sandbox: it last changed
// at changed (ctime, in nanoseconds since 1970), which no program can set.
func (all Folders) Since(at string, changed int64) (folder string, may bool) {
	for _, f := range all {
		if isBelow(at, f.Path) && changed >= f.Since-slack.Nanoseconds() {
			return f.Path, true
		}
	}
	return "", false
}

// with adds folders, and says whether there were any to add: one in another
// that was written before is known.
func (all Folders) with(paths []string, now time.Time) (Folders, bool) {
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	more := slices.Clone(all)
	for _, p := range sorted {
		if !slices.ContainsFunc(more, func(f Folder) bool { return p == f.Path || isBelow(p, f.Path) }) {
			more = append(more, Folder{Path: p, Since: now.UnixNano()})
		}
	}
	return more, len(more) > len(all)
}

func isBelow(at, dir string) bool {
	return dir == "/" && at != "/" || strings.HasPrefix(at, dir+"/")
}
