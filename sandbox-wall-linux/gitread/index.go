package gitread

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// gitlink is the mode of an entry that is a submodule (gitformat-index(5)).
const gitlink = 0o160000

var errIndex = errors.New("not an index of git's")

// Gitlinks gives the paths of the submodules in an index (gitformat-index(5),
// versions 2 to 4), at most most, and whether these are all. hash is the length
// of an object's name: 20 bytes, or 32 with extensions.objectFormat sha256.
// shared is the end of the name of the file that holds the rest of a split
// index, sharedindex.<shared>; empty where it is not split.
func Gitlinks(index []byte, hash, most int) (paths []string, whole bool, shared string, err error) {
	if len(index) < 12+hash || string(index[:4]) != "DIRC" {
		return nil, false, "", errIndex
	}
	version, n := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return nil, false, "", errIndex
	}
	whole = true
	end := len(index) - hash
	at := 12
	var name []byte
	for range n {
		head := 40 + hash + 2
		if at+head > end {
			return paths, false, "", errIndex
		}
		mode := binary.BigEndian.Uint32(index[at+24:])
		flags := binary.BigEndian.Uint16(index[at+head-2:])
		if flags&0x4000 != 0 {
			if version < 3 {
				return paths, false, "", errIndex
			}
			head += 2
		}
		rest := index[min(at+head, end):end]
		strip := -1
		if version == 4 {
			var used int
			if strip, used = offset(rest); used == 0 || strip > len(name) {
				return paths, false, "", errIndex
			}
			rest = rest[used:]
			head += used
		}
		length := bytes.IndexByte(rest, 0)
		if length < 0 {
			return paths, false, "", errIndex
		}
		if version == 4 {
			name = append(name[:len(name)-strip], rest[:length]...)
			at += head + length + 1
		} else {
			name = rest[:length:length]
			at += (head + length + 8) &^ 7
		}
		if mode&0o170000 == gitlink && length > 0 {
			if len(paths) == most {
				return paths, false, "", nil
			}
			paths = append(paths, string(name))
		}
	}
	for at+8 <= end { // extensions
		size := int(binary.BigEndian.Uint32(index[at+4:]))
		if size > end-at-8 {
			return paths, false, "", errIndex
		}
		if body := index[at+8 : at+8+size]; string(index[at:at+4]) == "link" && len(body) >= hash && !allZero(body[:hash]) {
			shared = hex.EncodeToString(body[:hash])
		}
		at += 8 + size
	}
	return paths, whole, shared, nil
}

// offset reads a number as a pack writes an offset (gitformat-pack(5)), in at
// most five bytes.
func offset(b []byte) (n, used int) {
	for i := 0; i < len(b) && i < 5; i++ {
		if i > 0 {
			n++
		}
		n = n<<7 | int(b[i]&0x7f)
		if b[i]&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
