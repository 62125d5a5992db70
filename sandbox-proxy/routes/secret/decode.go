package secret

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
)

var errEncoding = errors.New("an encoding that is not read")

// decoded gives an answer's body without its encodings (RFC 9110 section 8.4),
// of which gzip and deflate are read. The error is for any other.
func decoded(resp *http.Response) (body io.Reader, was bool, err error) {
	body = resp.Body
	var all []string
	for _, line := range resp.Header["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
				all = append(all, name)
			}
		}
	}
	if len(all) > maxEncodings {
		return nil, false, errEncoding
	}
	for i := len(all) - 1; i >= 0; i-- { // the last was put on last
		switch all[i] {
		case "gzip", "x-gzip":
			body = &late{from: body, open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
		case "deflate":
			body = &late{from: body, open: inflate}
		default:
			return nil, false, errEncoding
		}
	}
	return body, len(all) > 0, nil
}

// maxEncodings bounds encodings over one another.
const maxEncodings = 3

// late is a decoder that is opened by the first read: its first bytes may be a
// while in coming, and the head need not wait for them.
type late struct {
	from io.Reader
	open func(io.Reader) (io.Reader, error)
	to   io.Reader
	err  error
}

func (l *late) Read(p []byte) (int, error) {
	if l.to == nil && l.err == nil {
		l.to, l.err = l.open(l.from)
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.to.Read(p)
}

// inflate reads deflate as it is meant, in zlib's form, and as some send it,
// without.
func inflate(r io.Reader) (io.Reader, error) {
	br := bufio.NewReader(r)
	head, err := br.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 { // RFC 1950 section 2.2
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}
