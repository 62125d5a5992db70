package linuxwall

import (
	"errors"
	"io"
	"os"
	"runtime"
)

// HeadSize is how much of a file says what it is, in bytes: what the kernel looks
// at too (BINPRM_BUF_SIZE).
const HeadSize = 256

// ErrNoProgram is of a file that neither the kernel executes nor a shell reads.
var ErrNoProgram = errors.New("no program for this machine (" + runtime.GOARCH + ") and no script: it was built for another, or is not whole")

// ForShell says of a file that the kernel does not know how to execute whether
// execvp(3)'s shell is to read it, from its first bytes. Binary data is not to: a
// program of another machine would be taken for commands. It is told by what the
// shells themselves tell it by, ELF's first bytes, and a NUL in the first line: behind
// that a script may carry any data.
//
// It allocates nothing and grows no stack, so that a process that shares its memory
// can ask.
//
//go:nosplit
//go:norace
func ForShell(head []byte) bool {
	if len(head) >= 4 && head[0] == 0x7f && head[1] == 'E' && head[2] == 'L' && head[3] == 'F' {
		return false
	}
	for _, b := range head {
		if b == '\n' {
			return true
		}
		if b == 0 {
			return false
		}
	}
	return true
}

// FileForShell is [ForShell] of a file. It is an error where it cannot be read, which
// a shell could not either.
func FileForShell(name string) error {
	f, err := os.Open(name)
	if because := (*os.PathError)(nil); errors.As(err, &because) {
		return because.Err // which names no file
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, HeadSize))
	if err == nil && !ForShell(head) {
		err = ErrNoProgram
	}
	return err
}
