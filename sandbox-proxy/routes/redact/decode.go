package redact

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

// Decode takes the encodings off an answer's body (RFC 9110 section 8.4), of
// which gzip and deflate are read, and what told of them out of its head; was is
// false where there are none. The error is for any other: the answer is then as
// it was.
func Decode(resp *http.Response) (was bool, err error) {
	var all []string
	for _, line := range resp.Header["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
				all = append(all, name)
			}
		}
	}
	if len(all) > maxEncodings {
		return false, errEncoding
	}
	body := io.Reader(resp.Body)
	for i := len(all) - 1; i >= 0; i-- { // the last was put on last
		switch all[i] {
		case "gzip", "x-gzip":
			body = &late{from: body, open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
		case "deflate":
			body = &late{from: body, open: inflate}
		default:
			return false, errEncoding
		}
	}
	if len(all) == 0 {
		return false, nil
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Body = &plain{body, resp.Body}
	return true, nil
}

// plain is a body without its encodings.
type plain struct {
	io.Reader
	packed io.ReadCloser
}

// maxBehind bounds what is read behind the end of what was packed.
const maxBehind = 64 << 10

// Read reads on behind the end, where a body's trailers are: a zlib stream's end
// is known before the body's is.
func (p *plain) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err == io.EOF {
		io.CopyN(io.Discard, p.packed, maxBehind)
	}
	return n, err
}

func (p *plain) Close() error { return p.packed.Close() }

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
