package linuxwall

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// A Start is what a file that is executed needs beside itself, as it says
// itself. A file that needs nothing, or that is no program, has the zero value.
type Start struct {
	// Script are the words of the first line of a script, behind "#!": its
	// interpreter, and what that is given.
	Script []string
	// Loader is the program that maps an ELF file's libraries.
	Loader string
}

// Limits of what is read of a file.
const (
	maxScriptLine = 256  // BINPRM_BUF_SIZE of the kernel
	maxLoader     = 4096 // PATH_MAX
	maxHeaders    = 128  // program headers
)

// startOf reads what the kernel would: a script's first line (execve(2)), or
// the program headers of a 64-bit little-endian ELF file (elf(5)).
func startOf(r io.ReaderAt) Start {
	head := make([]byte, maxScriptLine)
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	if line, script := bytes.CutPrefix(head, []byte("#!")); script {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		return Start{Script: strings.FieldsFunc(string(line), func(r rune) bool { return r == ' ' || r == '\t' })}
	}
	if n < 64 || string(head[:6]) != "\x7fELF\x02\x01" {
		return Start{}
	}
	at := int64(binary.LittleEndian.Uint64(head[32:]))
	size, count := int(binary.LittleEndian.Uint16(head[54:])), int(binary.LittleEndian.Uint16(head[56:]))
	if size != 56 || count > maxHeaders || at < 0 {
		return Start{}
	}
	headers := make([]byte, size*count)
	if _, err := r.ReadAt(headers, at); err != nil && err != io.EOF {
		return Start{}
	}
	for ; len(headers) >= size; headers = headers[size:] {
		const interpreter = 3 // PT_INTERP
		if binary.LittleEndian.Uint32(headers) != interpreter {
			continue
		}
		length := binary.LittleEndian.Uint64(headers[32:])
		if length > maxLoader {
			return Start{}
		}
		name := make([]byte, length)
		if _, err := r.ReadAt(name, int64(binary.LittleEndian.Uint64(headers[8:]))); err != nil && err != io.EOF {
			return Start{}
		}
		name, _, _ = bytes.Cut(name, []byte{0})
		return Start{Loader: string(name)}
	}
	return Start{}
}

// throughEnv gives the program that env(1) looks for when it is a script's
// interpreter: the first word that is no option of it and sets no variable.
// The kernel hands the rest of the line over as one word; -S parts it.
func throughEnv(words []string) string {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-u" || w == "-C" || w == "--unset" || w == "--chdir":
			i++
		case strings.HasPrefix(w, "-S") && len(w) > 2:
			if w = w[2:]; !strings.Contains(w, "=") {
				return w
			}
		case strings.HasPrefix(w, "-"), strings.Contains(w, "="):
		default:
			return w
		}
	}
	return ""
}
