package launch

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// fed is a standard input that stays outside. It is settled once the program has
// ended, and all that it left, or where there is none.
type fed interface{ settle() }

// A feeder gives the program a file as its standard input, by a pipe, and the
// file's offset stays that of what the program has taken: whoever started us
// has the same open file, and goes on in it where the program left off, as a
// shell's `while read` does.
type feeder struct {
	file  *os.File
	begun int64 // where the file stood
	pipe  *os.File
	kept  int // the end that is read, to ask what is left in it
	given int64
	done  chan struct{} // nil before it was begun
}

// feed gives the program's end of the pipe. Nil is a file that has no offset.
func feed(file *os.File) (*feeder, int, error) {
	begun, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, -1, nil
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, fmt.Errorf("pipe: %w", err)
	}
	kept, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		// So that closing it ends a write; the other end blocks as ever.
		err = unix.SetNonblock(pipe[1], true)
	}
	if err != nil {
		both := ends(pipe[:])
		both.close()
		return nil, -1, fmt.Errorf("pipe: %w", err)
	}
	f := &feeder{file: file, begun: begun, pipe: os.NewFile(uintptr(pipe[1]), "to the program"), kept: kept}
	return f, pipe[0], nil
}

// begin begins to feed.
func (f *feeder) begin() {
	f.done = make(chan struct{})
	go f.run()
}

func (f *feeder) run() {
	defer close(f.done)
	defer f.pipe.Close()
	piece := make([]byte, 64<<10)
	for {
		n, err := f.file.ReadAt(piece, f.begun+f.given)
		wrote, failed := f.pipe.Write(piece[:n])
		f.given += int64(wrote)
		if err != nil || failed != nil {
			return
		}
	}
}

func (f *feeder) settle() {
	f.pipe.Close()
	defer unix.Close(f.kept)
	if f.done == nil {
		return
	}
	<-f.done
	left, err := unix.IoctlGetInt(f.kept, unix.TIOCINQ) // FIONREAD's other name
	if err != nil {
		return
	}
	_, _ = f.file.Seek(f.begun+f.given-int64(left), io.SeekStart)
}
