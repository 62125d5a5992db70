package hello_test

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/hello"
)

func named(host string) []byte {
	list := append([]byte{0, 0, byte(len(host))}, host...)
	data := append(binary.BigEndian.AppendUint16(nil, uint16(len(list))), list...)
	return append(binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(data))), data...)
}

// of is a record of a type.
func of(kind byte, b ...byte) []byte {
	return append([]byte{kind, 3, 3, byte(len(b) >> 8), byte(len(b))}, b...)
}

// apart is a record's message in records of size bytes, with another between.
func apart(b []byte, size int, between []byte) (cut []byte) {
	for part := range slices.Chunk(b[5:], size) {
		cut = append(append(cut, record(part)...), between...)
	}
	return cut
}

// parsed is the first hello.
func parsed(t *testing.T, b []byte) hello.Hello {
	t.Helper()
	h, err := hello.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAgain(t *testing.T) {
	var (
		first    = build(named("ok.test"))
		eager    = build(named("ok.test"), []byte{0, 42, 0, 0})
		same     = build(named("ok.test"), []byte{0, 44, 0, 3, 0, 1, 9})
		other    = build(named("evil.test"))
		bare     = build()
		ciphers  = of(20, 1)
		warning  = of(21, 1, 90)
		data     = of(23, make([]byte, 600)...)
		key      = record(append([]byte{16, 0, 0, 33}, make([]byte, 33)...))
		finished = of(22, append([]byte{1, 0x7a, 0x40, 0x13}, make([]byte, 36)...)...) // sealed: its bytes are anything
		short    = of(22, append([]byte{1, 0, 0x20, 0x13}, make([]byte, 36)...)...)
		long     = record(append([]byte{1, 0, 0x50, 0}, make([]byte, 16000)...))
		rest     = of(22, make([]byte, 4484)...)
		broken   = slices.Clone(other)
	)
	broken[len(broken)-len("evil.test")-4]++ // the list's length
	over := record(append(slices.Clone(other[5:]), 0))
	for what, c := range map[string]struct {
		said []byte
		want error
		ends bool
	}{
		"the first alone":            {first, nil, false},
		"TLS 1.3":                    {slices.Concat(first, ciphers, data), nil, true},
		"TLS 1.2":                    {slices.Concat(first, key, ciphers, finished), nil, true},
		"TLS 1.2, resumed":           {slices.Concat(first, ciphers, finished, data), nil, true},
		"TLS 1.2, resumed, short":    {slices.Concat(first, ciphers, short, data), nil, true},
		"early data":                 {slices.Concat(eager, ciphers, data, data), nil, false},
		"asked again":                {slices.Concat(first, same), nil, true},
		"asked again, apart":         {slices.Concat(first, ciphers, apart(same, 7, nil)), nil, true},
		"asked again, without":       {slices.Concat(first, bare), nil, true},
		"asked without, again":       {slices.Concat(bare, same), nil, true},
		"the first apart":            {slices.Concat(apart(first, 1, nil), same), nil, true},
		"other":                      {slices.Concat(first, other), hello.ErrOther, false},
		"other after none":           {slices.Concat(bare, other), hello.ErrOther, false},
		"other behind ciphers":       {slices.Concat(first, ciphers, other), hello.ErrOther, false},
		"other behind a warning":     {slices.Concat(first, warning, warning, other), hello.ErrOther, false},
		"other behind empty records": {slices.Concat(first, of(22), of(22), other), hello.ErrOther, false},
		"other behind early data":    {slices.Concat(eager, ciphers, data, data, other), hello.ErrOther, false},
		"other in bytes":             {slices.Concat(apart(first, 1, nil), apart(other, 1, nil)), hello.ErrOther, false},
		"other, ciphers between":     {slices.Concat(first, apart(other, 9, ciphers)), hello.ErrOther, false},
		"malformed":                  {slices.Concat(first, broken), hello.ErrMalformed, false},
		"more behind it":             {slices.Concat(first, over), hello.ErrMalformed, false},
		"too long":                   {slices.Concat(first, long, rest), hello.ErrMalformed, false},
	} {
		for _, size := range []int{1, 2, 3, 4, 5, 6, 7, 11, 64, len(c.said)} {
			a := hello.Again{First: parsed(t, c.said), Check: func(name string) bool { return name == "" || name == "ok.test" }}
			more, at := true, 0
			var err error
			for more && at < len(c.said) {
				end := min(at+size, len(c.said))
				more, err = a.Read(c.said[at:end])
				at = end
			}
			if !errors.Is(err, c.want) || err != nil && more || err == nil && more == c.ends {
				t.Errorf("%s in pieces of %d: more %v, %v", what, size, more, err)
			}
		}
	}
}

// Of early data no end is waited for.
func TestAgainBehindEarlyData(t *testing.T) {
	eager, data := build(named("ok.test"), []byte{0, 42, 0, 0}), of(23, make([]byte, 600)...)
	a := hello.Again{First: parsed(t, eager), Check: func(string) bool { return true }}
	goesOn, err := a.Read(eager)
	read := 0
	for ; goesOn && err == nil && read < 1<<22; read += len(data) {
		goesOn, err = a.Read(data)
	}
	if goesOn || err != nil || read < 1<<20 {
		t.Errorf("early data: more %v, %v after %d bytes", goesOn, err, read)
	}
}

// What real clients say first is watched to where they have no hello left.
func TestAgainOfRealHellos(t *testing.T) {
	for _, c := range []*tls.Config{{ServerName: "ok.test"}, {ServerName: "ok.test", MaxVersion: tls.VersionTLS12}} {
		first := said(t, c)
		a := hello.Again{First: parsed(t, first), Check: func(string) bool { return false }}
		if more, err := a.Read(first); !more || err != nil {
			t.Errorf("more %v, %v", more, err)
		}
		if more, err := a.Read(of(23, 1, 2, 3)); more || err != nil {
			t.Errorf("then more %v, %v", more, err)
		}
	}
}
