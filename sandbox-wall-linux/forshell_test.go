package linuxwall

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the kernel does not execute is a shell's only where it is text as shells
// have it.
func TestForShell(t *testing.T) {
	for head, want := range map[string]bool{
		"":                                 true,
		"echo a\n":                         true,
		"echo a":                           true,
		"\n\x00\x00":                       true, // as archives that unpack themselves
		"#!\necho a\n":                     true,
		"\xef\xbb\xbfecho a\n":             true,
		"\x1b[0m":                          true,
		strings.Repeat("x", HeadSize):      true,
		"\x7fELF":                          false,
		"\x7fELF\n":                        false,
		"\x7fEL":                           true,
		"\x00":                             false,
		"MZ\x90\x00":                       false,
		"\x00asm\x01\x00\x00\x00":          false,
		"e\x00c\x00h\x00o\x00\n\x00":       false, // UTF-16
		"PK\x03\x04\x14\x00\x00\x00\x08\n": false,
	} {
		if got := ForShell([]byte(head)); got != want {
			t.Errorf("%q: %v, want %v", head, got, want)
		}
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := FileForShell(file); (err == nil) != want || err != nil && !errors.Is(err, ErrNoProgram) {
			t.Errorf("%q: %v, want %v", head, err, want)
		}
	}
	if err := FileForShell(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "open") {
		t.Errorf("what is not there: %v", err)
	}
}
