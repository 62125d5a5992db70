package gitread

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
)

// gitlink is the mode of an entry that is a submodule (gitformat-index(5)).
const gitlink = 0o160000

// window is how much of an index is held at once: more than a path is long. An
// index may be of megabytes, and memory that is fresh costs more than reading.
const window = 64 << 10

var errIndex = errors.New("not an index of git's")

// Gitlinks gives the paths of the submodules in an index (gitformat-index(5),
// versions 2 to 4) of size bytes, at most most, and whether these are all. hash
// is the length of an object's name: 20 bytes, or 32 with
// extensions.objectFormat sha256. shared is the end of the name of the file that
// holds the rest of a split index, sharedindex.<shared>; empty where it is not
// split.
func Gitlinks(index io.Reader, size int64, hash, most int) (paths []string, whole bool, shared string, err error) {
	r := indexReader{in: bufio.NewReaderSize(index, window), left: size - int64(hash)}
	head := r.take(12)
	if head == nil || string(head[:4]) != "DIRC" {
		return nil, false, "", errIndex
	}
	version, n := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if version < 2 || version > 4 {
		return nil, false, "", errIndex
	}
	var name []byte
	for range n {
		mode, ok := r.entry(version, hash, &name)
		if !ok {
			return paths, false, "", errIndex
		}
		if mode&0o170000 != gitlink || len(name) == 0 {
			continue
		}
		if len(paths) == most {
			return paths, false, "", nil
		}
		paths = append(paths, string(name))
	}
	for r.left >= 8 { // extensions
		head := r.take(8)
		if head == nil {
			return paths, false, "", errIndex
		}
		link, length := string(head[:4]) == "link", int64(binary.BigEndian.Uint32(head[4:]))
		if link && length >= int64(hash) {
			base := r.take(hash)
			if base == nil {
				return paths, false, "", errIndex
			}
			if length -= int64(hash); len(bytes.Trim(base, "\x00")) > 0 {
				shared = hex.EncodeToString(base)
			}
		}
		if !r.skip(length) {
			return paths, false, "", errIndex
		}
	}
	return paths, true, shared, nil
}

// An indexReader reads an index but for the sum at its end.
type indexReader struct {
	in   *bufio.Reader
	left int64
}

// take gives the next bytes, until the next call, or nil where there are not
// that many.
func (r *indexReader) take(n int) []byte {
	b, err := r.in.Peek(n)
	if err != nil || int64(n) > r.left {
		return nil
	}
	r.skip(int64(n))
	return b
}

func (r *indexReader) skip(n int64) bool {
	if n > r.left {
		return false
	}
	r.left -= n
	for n > 0 {
		some, err := r.in.Discard(int(min(n, 1<<30)))
		if err != nil {
			return false
		}
		n -= int64(some)
	}
	return true
}

// entry reads one, whose name takes the place of the one before.
func (r *indexReader) entry(version uint32, hash int, name *[]byte) (mode uint32, ok bool) {
	size := 40 + hash + 2
	head := r.take(size)
	if head == nil {
		return 0, false
	}
	mode = binary.BigEndian.Uint32(head[24:])
	if binary.BigEndian.Uint16(head[size-2:])&0x4000 != 0 {
		if size += 2; version < 3 || r.take(2) == nil {
			return 0, false
		}
	}
	kept := 0
	if version == 4 {
		strip, ok := r.offset()
		if !ok || strip > len(*name) {
			return 0, false
		}
		kept = len(*name) - strip
	}
	rest, err := r.in.ReadSlice(0)
	if r.left -= int64(len(rest)); err != nil || r.left < 0 {
		return 0, false
	}
	*name = append((*name)[:kept], rest[:len(rest)-1]...)
	if version == 4 {
		return mode, true
	}
	// To a multiple of eight bytes, one of zero among them.
	length := size + len(*name)
	return mode, r.skip(int64((length+8)&^7 - length - 1))
}

// offset reads a number as a pack writes an offset (gitformat-pack(5)), in at
// most five bytes.
func (r *indexReader) offset() (n int, ok bool) {
	for i := range 5 {
		b := r.take(1)
		if b == nil {
			return 0, false
		}
		if i > 0 {
			n++
		}
		n = n<<7 | int(b[0]&0x7f)
		if b[0]&0x80 == 0 {
			return n, true
		}
	}
	return 0, false
}
