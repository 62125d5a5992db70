package redact

import "encoding/base64"

// targets are all that are looked for of one secret, and where one may begin.
type targets struct {
	all   []target
	pairs [1 << 16]uint8 // of two bytes, which of all they may begin, a bit each, and thirds
	first set            // of one byte, whether any
}

// thirds says of two bytes that they may be the second and the third of one.
const thirds = 1 << 7

// leastHex is how many bytes a secret must have to be looked for in hexadecimal.
const leastHex = 4

// targetsOf gives those of a secret, and of what stands for it.
func targetsOf(secret, instead string) *targets {
	instead = stretch(instead, len(secret))
	t := &targets{}
	add := func(text, instead string, how kind, pieces []string) {
		between, single, several := among(pieces)
		t.all = append(t.all, target{text, instead, how, between, single, several})
	}
	add(secret, instead, written, betweenWritten)
	for before := range 3 {
		if text := within(base64.RawStdEncoding, before, secret); len(text) >= leastBase64 {
			add(text, within(base64.RawStdEncoding, before, instead), base64d, betweenBase64)
		}
	}
	if len(secret) >= leastHex {
		add(secret, instead, hexed, betweenHex)
	}
	t.begin()
	return t
}

// begin works out what they begin with.
func (t *targets) begin() {
	for j := range t.all {
		for first := range 256 {
			if !t.may(j, byte(first)) {
				continue
			}
			t.first[first] = true
			for second := range 256 {
				if !t.may(j, byte(first), byte(second)) {
					continue
				}
				t.pairs[first<<8|second] |= 1 << j
				for third := range 256 {
					if t.may(j, byte(first), byte(second), byte(third)) {
						t.pairs[second<<8|third] |= thirds
					}
				}
			}
		}
	}
}

// may says whether a target may begin so.
func (t *targets) may(j int, b ...byte) bool {
	_, m := t.all[j].at(b, false, nil)
	return m != differs
}

// find gives the first match in b from a place on: where it begins and ends, and
// of what; or where what may be the beginning of one stands at the end of b,
// with end 0. What is not there is at len(b).
//
// Each is of three bytes at least, so that every second pair of bytes is looked
// at: it is the first and the second of one, or the second and the third.
func (t *targets) find(b []byte, from int, last bool) (at, end int, of *target) {
	k := from
	for ; k+1 < len(b); k += 2 {
		may := t.pairs[uint(b[k])<<8|uint(b[k+1])]
		if may == 0 {
			continue
		}
		for at = max(k-1, from); at <= k; at++ {
			if t.pairs[uint(b[at])<<8|uint(b[at+1])]&^thirds == 0 {
				continue
			}
			if end, of, m := t.begins(b[at:], last); m != differs {
				return at, at + end, of
			}
		}
	}
	for at = max(k-1, from); at < len(b); at++ {
		if end, of, m := t.begins(b[at:], last); m != differs {
			return at, at + end, of
		}
	}
	return len(b), 0, nil
}

// begins says whether one stands at the beginning of b, which is not empty.
func (t *targets) begins(b []byte, last bool) (end int, of *target, m match) {
	if len(b) == 1 {
		if !last && t.first[b[0]] {
			return 0, nil, begins
		}
		return 0, nil, differs
	}
	may := t.pairs[uint(b[0])<<8|uint(b[1])] &^ thirds
	for i := range t.all {
		if may&(1<<i) == 0 {
			continue
		}
		switch end, m := t.all[i].at(b, last, nil); {
		case m == matches:
			return end, &t.all[i], m
		case m == begins && !last:
			return 0, nil, m
		}
	}
	return 0, nil, differs
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
