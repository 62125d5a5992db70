package hello_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/hello"
)

// said gives what a TLS client says first.
func said(t testing.TB, c *tls.Config) []byte {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	go func() {
		tls.Client(b, c).Handshake()
		b.Close()
	}()
	buf := make([]byte, 64<<10)
	n, err := a.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:n]
}

func TestReal(t *testing.T) {
	for _, c := range []*tls.Config{
		{ServerName: "ok.test"}, {ServerName: "OK.Test."}, {InsecureSkipVerify: true}, {ServerName: "192.0.2.1"},
		{ServerName: "ok.test", MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}, {ServerName: strings.Repeat("a.", 100) + "test", NextProtos: []string{"h2", "http/1.1"}},
	} {
		b := said(t, c)
		want := strings.TrimSuffix(c.ServerName, ".")
		if net.ParseIP(want) != nil {
			want = ""
		}
		if got, err := hello.Parse(b); got.ServerName != want || got.Size != len(b) || got.Early || err != nil {
			t.Errorf("%q: %+v %v", c.ServerName, got, err)
		}
		for n := range b {
			if got, err := hello.Parse(b[:n]); got != (hello.Hello{}) || err != hello.ErrShort {
				t.Fatalf("%q: %d of %d bytes: %+v %v", c.ServerName, n, len(b), got, err)
			}
		}
		// The same in records of every size.
		for _, size := range []int{1, 3, 100} {
			var cut []byte
			for body := b[5:]; len(body) > 0; {
				n := min(size, len(body))
				cut = append(append(cut, 22, 3, 1, byte(n>>8), byte(n)), body[:n]...)
				body = body[n:]
			}
			if got, err := hello.Parse(append(cut, 20, 3, 3)); got.ServerName != want || got.Size != len(cut) || err != nil {
				t.Errorf("%q in records of %d: %+v %v", c.ServerName, size, got, err)
			}
		}
	}
}

// build makes a hello of extensions.
func build(extensions ...[]byte) []byte {
	body := append([]byte{3, 3}, make([]byte, 32)...)
	body = append(body, 0, 0, 2, 0x13, 1, 1, 0)
	all := bytes.Join(extensions, nil)
	body = binary.BigEndian.AppendUint16(body, uint16(len(all)))
	body = append(body, all...)
	return record(append([]byte{1, 0, byte(len(body) >> 8), byte(len(body))}, body...))
}

func record(b []byte) []byte {
	return append([]byte{22, 3, 1, byte(len(b) >> 8), byte(len(b))}, b...)
}

func extension(kind uint16, data []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, kind)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(data))), data...)
}

// names is the extension's data: a list of names of a type.
func names(kind byte, all ...string) []byte {
	var list []byte
	for _, n := range all {
		list = append(binary.BigEndian.AppendUint16(append(list, kind), uint16(len(n))), n...)
	}
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(list))), list...)
}

func TestMade(t *testing.T) {
	ok := extension(0, names(0, "ok.test"))
	whole := build(ok)
	for what, c := range map[string]struct {
		b    []byte
		name string
		err  error
	}{
		"one name":            {build(extension(10, []byte{1, 2}), ok), "ok.test", nil},
		"no extensions":       {build(), "", nil},
		"no name":             {build(extension(10, nil)), "", nil},
		"two names":           {build(extension(0, names(0, "ok.test", "evil.test"))), "", hello.ErrMalformed},
		"two extensions":      {build(ok, extension(0, names(0, "evil.test"))), "", hello.ErrMalformed},
		"two of another kind": {build(ok, extension(10, nil), extension(10, nil)), "", hello.ErrMalformed},
		"another type":        {build(extension(0, names(1, "ok.test"))), "", hello.ErrMalformed},
		"an empty name":       {build(extension(0, names(0, ""))), "", hello.ErrMalformed},
		"an empty list":       {build(extension(0, names(0))), "", hello.ErrMalformed},
		"an empty extension":  {build(extension(0, nil)), "", hello.ErrMalformed},
		"more than the list":  {build(extension(0, append(names(0, "ok.test"), 0))), "", hello.ErrMalformed},
		"cut extension":       {build(ok[:len(ok)-1]), "", hello.ErrMalformed},
		"two messages":        {record(append(append([]byte(nil), whole[5:]...), whole[5:]...)), "", hello.ErrMalformed},
		"two, one to come":    {record(append(append([]byte(nil), whole[5:]...), whole[5:]...))[:len(whole)], "", hello.ErrMalformed},
		"a byte to come":      {record(append(append([]byte(nil), whole[5:]...), 0))[:len(whole)], "", hello.ErrMalformed},
		"another message":     {record([]byte{2, 0, 0, 1, 0}), "", hello.ErrNotTLS},
		"another record":      {[]byte{23, 3, 3, 0, 1, 0}, "", hello.ErrNotTLS},
		"SSL 2":               {[]byte{0x80, 0x2e, 1, 0, 2}, "", hello.ErrNotTLS},
		"TLS 2":               {[]byte{22, 4, 0, 0, 1}, "", hello.ErrNotTLS},
		"http":                {[]byte("GET / HTTP/1.1\r\n"), "", hello.ErrNotTLS},
		"ssh":                 {[]byte("SSH-2.0"), "", hello.ErrNotTLS},
		"nothing":             {nil, "", hello.ErrShort},
		"an empty record":     {[]byte{22, 3, 1, 0, 0}, "", hello.ErrMalformed},
		"a record too long":   {[]byte{22, 3, 1, 0x40, 1}, "", hello.ErrMalformed},
		"too long":            {record([]byte{1, 1, 0, 0}), "", hello.ErrMalformed},
		"alert in between":    {append(record(whole[5:20]), 21, 3, 1, 0, 2, 2, 0), "", hello.ErrMalformed},
	} {
		if h, err := hello.Parse(c.b); h.ServerName != c.name || err != c.err {
			t.Errorf("%s: %q %v, want %q %v", what, h.ServerName, err, c.name, c.err)
		}
	}
}

// FuzzParse: what is read is what a TLS server reads. Where crypto/tls takes a
// hello that is taken here, both read one name.
func FuzzParse(f *testing.F) {
	f.Add(said(f, &tls.Config{ServerName: "ok.test"}))
	f.Add(build(extension(0, names(0, "ok.test"))))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	errSeen := errors.New("seen")
	f.Fuzz(func(t *testing.T, b []byte) {
		parsed, err := hello.Parse(b)
		name := parsed.ServerName
		if err != nil && name != "" {
			t.Fatalf("%q with %v", name, err)
		}
		if err != nil {
			return
		}
		if again, err := hello.Parse(b[:parsed.Size]); err != nil || again != parsed {
			t.Fatalf("%+v alone is %+v, %v", parsed, again, err)
		}
		server := tls.Server(&once{r: bytes.NewReader(b)}, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			if h.ServerName != name {
				t.Errorf("a server reads %q, we read %q", h.ServerName, name)
			}
			return nil, errSeen
		}})
		server.Handshake()
	})
}

// once is a connection that says something and hears nothing.
type once struct {
	net.Conn
	r io.Reader
}

func (o *once) Read(b []byte) (int, error)         { return o.r.Read(b) }
func (o *once) Write(b []byte) (int, error)        { return len(b), nil }
func (o *once) Close() error                       { return nil }
func (o *once) SetDeadline(time.Time) error        { return nil }
func (o *once) SetWriteDeadline(t time.Time) error { return nil }
