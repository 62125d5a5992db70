package redact

import "encoding/base64"

// targets are all that are looked for of one secret, and where one may begin.
type targets struct {
	all   []target
	pairs [1 << 16 / 64]uint64 // of two bytes, those that one begins with
	first [256]bool            // of one
}

// leastHex is how many bytes a secret must have to be looked for in hexadecimal.
const leastHex = 4

// targetsOf gives those of a secret, and of what stands for it.
func targetsOf(secret, instead string) *targets {
	instead = stretch(instead, len(secret))
	t := &targets{all: []target{{secret, instead, written, betweenWritten}}}
	for before := range 3 {
		if text := within(base64.RawStdEncoding, before, secret); len(text) >= leastBase64 {
			t.all = append(t.all, target{text, within(base64.RawStdEncoding, before, instead), base64d, betweenBase64})
		}
	}
	if len(secret) >= leastHex {
		t.all = append(t.all, target{secret, instead, hexed, betweenHex})
	}
	for j := range t.all {
		for first := range 256 {
			if _, m := t.all[j].at([]byte{byte(first)}, false, nil); m == differs {
				continue
			}
			t.first[first] = true
			for second := range 256 {
				if _, m := t.all[j].at([]byte{byte(first), byte(second)}, false, nil); m != differs {
					i := first<<8 | second
					t.pairs[i/64] |= 1 << (i % 64)
				}
			}
		}
	}
	return t
}

// find gives the first match in b from a place on: where it begins and ends, and
// of what; or where what may be the beginning of one stands at the end of b,
// with end 0. What is not there is at len(b).
func (t *targets) find(b []byte, from int, last bool) (at, end int, of *target) {
	for at = from; at+1 < len(b); at++ {
		if i := uint(b[at])<<8 | uint(b[at+1]); t.pairs[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		for i := range t.all {
			end, m := t.all[i].at(b[at:], last, nil)
			switch {
			case m == matches:
				return at, at + end, &t.all[i]
			case m == begins && !last:
				return at, 0, nil
			}
		}
	}
	if at < len(b) && (last || !t.first[b[at]]) {
		at++
	}
	return at, 0, nil
}

// replace gives b with every match replaced by what is as long, and where what
// may be the beginning of one stands at its end. b itself is given where it
// holds none.
func (t *targets) replace(b []byte, last bool) (out []byte, held int) {
	for from := 0; ; {
		at, end, of := t.find(b, from, last)
		if of == nil && out == nil {
			return b, at
		}
		if of == nil {
			return append(out, b[from:]...), at
		}
		out = append(out, b[from:at]...)
		of.at(b[at:], last, &out)
		from = end
	}
}
