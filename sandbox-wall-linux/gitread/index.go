package gitread

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strings"
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
	full := false
	shared, err = each(index, size, hash, func(mode uint32, name []byte) bool {
		if mode&0o170000 != gitlink || len(name) == 0 {
			return true
		}
		if full = len(paths) == most; !full {
			paths = append(paths, string(name))
		}
		return !full
	})
	return paths, err == nil && !full, shared, err
}

// Strays gives names of an index that git makes no entry of, at most most: those
// that lead out of the work tree, or into a repository's own folder. git looks at
// names as it adds them, not as it reads an index (verify_path in read-cache.c),
// and git checkout-index, git checkout and git restore write where one says. The
// rest is as of [Gitlinks].
func Strays(index io.Reader, size int64, hash, most int) (names []string, shared string, err error) {
	shared, err = each(index, size, hash, func(_ uint32, name []byte) bool {
		if strays(string(name)) {
			names = append(names, string(name))
		}
		return len(names) < most
	})
	return names, shared, err
}

// strays judges a name. An entry of a folder, in a sparse index, ends in a slash;
// in a split one, what takes the place of another has no name.
func strays(name string) bool {
	if name == "" {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// each goes through an index, until visit says that it is enough.
func each(index io.Reader, size int64, hash int, visit func(mode uint32, name []byte) bool) (shared string, err error) {
	r := indexReader{in: bufio.NewReaderSize(index, window), left: size - int64(hash)}
	head := r.take(12)
	if head == nil || string(head[:4]) != "DIRC" {
		return "", errIndex
	}
	version, n := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if version < 2 || version > 4 {
		return "", errIndex
	}
	var name []byte
	starts := make([]uint32, 0, min(n, uint32(size/64)+1))
	for range n {
		at := r.read
		mode, whole, ok := r.entry(version, hash, &name)
		if !ok {
			return "", errIndex
		}
		if !whole {
			at = 0
		}
		starts = append(starts, uint32(at))
		if !visit(mode, name) {
			return "", nil
		}
	}
	return r.extensions(hash, starts)
}

// extensions reads what stands behind the entries. Where there are many of
// these, git has several threads read them, and finds them, and the extensions,
// by two of the extensions: an index that it would read otherwise than one by one
// is none. starts are where entries begin, or zero where one is not whole by
// itself.
func (r *indexReader) extensions(hash int, starts []uint32) (shared string, err error) {
	first := r.read
	for r.left >= 8 {
		head := r.take(8)
		if head == nil {
			return "", errIndex
		}
		kind, length := string(head[:4]), int64(binary.BigEndian.Uint32(head[4:]))
		last := kind != endOfEntries && length == r.left
		if length > r.left || last && length <= window && r.hidesEnd(int(length), hash) {
			return "", errIndex
		}
		switch {
		case kind == endOfEntries:
			at := r.take(4)
			if length != 4+int64(hash) || at == nil || int64(binary.BigEndian.Uint32(at)) != first {
				return "", errIndex
			}
			length -= 4
		case kind == "IEOT":
			if length%8 != 4 || !r.skip(4) || !r.blocks(length/8, starts) {
				return "", errIndex
			}
			length = 0
		case kind == "link" && length >= int64(hash):
			base := r.take(hash)
			if base == nil {
				return "", errIndex
			}
			if length -= int64(hash); len(bytes.Trim(base, "\x00")) > 0 {
				shared = hex.EncodeToString(base)
			}
		}
		if size := int64(endOfEntriesSize(hash)); last && length > size {
			if length = size; !r.skip(r.left-size) || r.hidesEnd(int(size), hash) {
				return "", errIndex
			}
		}
		if !r.skip(length) {
			return "", errIndex
		}
	}
	return shared, nil
}

// endOfEntries is the last extension, which says where the first is: git looks
// for it so many bytes before the sum, whatever stands there.
const endOfEntries = "EOIE"

func endOfEntriesSize(hash int) int { return 8 + 4 + hash }

// hidesEnd says whether the last extension, of so many bytes, ends in what looks
// like that one.
func (r *indexReader) hidesEnd(length, hash int) bool {
	b, err := r.in.Peek(length)
	at := length - endOfEntriesSize(hash)
	return err != nil || at >= 0 && string(b[at:][:4]) == endOfEntries
}

// blocks reads where threads begin, and how many entries each reads.
func (r *indexReader) blocks(n int64, starts []uint32) bool {
	for next := int64(0); n > 0; n-- {
		block := r.take(8)
		if block == nil || next >= int64(len(starts)) || starts[next] == 0 || starts[next] != binary.BigEndian.Uint32(block) {
			return false
		}
		next += int64(binary.BigEndian.Uint32(block[4:]))
	}
	return true
}

// An indexReader reads an index but for the sum at its end.
type indexReader struct {
	in   *bufio.Reader
	read int64
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
	r.left, r.read = r.left-n, r.read+n
	for n > 0 {
		some, err := r.in.Discard(int(min(n, 1<<30)))
		if err != nil {
			return false
		}
		n -= int64(some)
	}
	return true
}

// entry reads one, whose name takes the place of the one before. whole says that
// it begins with nothing of that.
func (r *indexReader) entry(version uint32, hash int, name *[]byte) (mode uint32, whole, ok bool) {
	size := 40 + hash + 2
	head := r.take(size)
	if head == nil {
		return 0, false, false
	}
	mode = binary.BigEndian.Uint32(head[24:])
	if binary.BigEndian.Uint16(head[size-2:])&0x4000 != 0 {
		if size += 2; version < 3 || r.take(2) == nil {
			return 0, false, false
		}
	}
	kept := 0
	if version == 4 {
		strip, ok := r.offset()
		if !ok || strip > len(*name) {
			return 0, false, false
		}
		kept = len(*name) - strip
	}
	rest, err := r.in.ReadSlice(0)
	r.read += int64(len(rest))
	if r.left -= int64(len(rest)); err != nil || r.left < 0 {
		return 0, false, false
	}
	*name = append((*name)[:kept], rest[:len(rest)-1]...)
	if version == 4 {
		return mode, kept == 0, true
	}
	// To a multiple of eight bytes, one of zero among them.
	length := size + len(*name)
	return mode, true, r.skip(int64((length+8)&^7 - length - 1))
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
