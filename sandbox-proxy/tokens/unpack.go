package tokens

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
)

// maxUnpacked bounds what is read of a packed answer: a few kilobytes can
// unpack to any size. What is past it is not counted.
const maxUnpacked = 1 << 30

var errUnpacked = errors.New("more than is read of a packed answer")

// An unpacking is a packed answer on its way to what reads it.
type unpacking struct {
	into   *io.PipeWriter
	result chan error
}

// unpack starts it. It must be ended.
func unpack(coding string, read func([]byte)) *unpacking {
	from, into := io.Pipe()
	u := &unpacking{into: into, result: make(chan error, 1)}
	go func() {
		err := copyUnpacked(coding, from, read)
		from.CloseWithError(io.ErrClosedPipe) // what else is written is thrown away
		u.result <- err
	}()
	return u
}

func copyUnpacked(coding string, from io.Reader, read func([]byte)) error {
	var r io.Reader
	var err error
	if coding == "deflate" {
		r, err = zlib.NewReader(from)
	} else {
		r, err = gzip.NewReader(from)
	}
	if err != nil {
		return err
	}
	buf := make([]byte, 16<<10)
	for left := maxUnpacked; left > 0; {
		n, err := r.Read(buf)
		read(buf[:n])
		left -= n
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, from) // a zlib stream has no other end
			return err
		}
		if err != nil {
			return err
		}
	}
	return errUnpacked
}

func (u *unpacking) write(b []byte) { u.into.Write(b) }

// end says whether all was unpacked that there was. A body that was cut is read
// as far as it came.
func (u *unpacking) end(whole bool) bool {
	u.into.Close()
	err := <-u.result
	return err == nil || !whole && errors.Is(err, io.ErrUnexpectedEOF)
}
