package form

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Member is one member of an [Object].
type Member struct {
	name     string
	required bool
	shape    Shape
}

// Required is a member that must be there.
func Required(name string, shape Shape) Member { return Member{name, true, shape} }

// Optional is a member that may be left out, but not be null.
func Optional(name string, shape Shape) Member { return Member{name, false, shape} }

// Moved is a member that is refused, saying what to do about it.
func Moved(name, problem string) Member {
	return Member{name, false, func(d *Decoder) { d.Refuse(problem) }}
}

// Or reads the member with another shape when what it holds is of that kind,
// as [Decoder.Peek] says it.
func (m Member) Or(kind string, shape Shape) Member {
	first := m.shape
	m.shape = func(d *Decoder) {
		if d.Peek() == kind {
			shape(d)
			return
		}
		first(d)
	}
	return m
}

// Object reads an object that has these members and no others.
func Object(members ...Member) Shape {
	return func(d *Decoder) {
		seen := make([]bool, len(members))
		d.eachMember(func(name string) {
			for i, m := range members {
				if m.name == name {
					seen[i] = true
					d.within(name, m.shape)
					return
				}
			}
			d.RefuseMember(name, unknown(name, members))
		})
		for i, m := range members {
			if m.required && !seen[i] {
				d.RefuseMember(m.name, "missing")
			}
		}
	}
}

func unknown(name string, members []Member) string {
	for _, m := range members {
		if strings.EqualFold(m.name, name) {
			return "unknown, names are case-sensitive: " + m.name
		}
	}
	return "unknown"
}

// eachMember reads an object, calling member at each of its values.
func (d *Decoder) eachMember(member func(name string)) {
	if !d.is(jsontext.KindBeginObject, IsObject) {
		return
	}
	if _, ok := d.next(); !ok {
		return
	}
	for {
		tok, ok := d.next()
		if !ok || tok.Kind() == jsontext.KindEndObject {
			return
		}
		member(tok.String())
		if d.err != nil {
			return
		}
	}
}

// Strings is a list of strings. An empty list is not nil.
func Strings(p *[]string) Shape { return List(p, String) }

// Paths is a list of files and folders, each without a last slash: people and
// shells write one behind a folder, and it names the same.
func Paths(p *[]string) Shape {
	return List(p, func(v *string) Shape {
		read := String(v)
		return func(d *Decoder) {
			read(d)
			if trimmed := strings.TrimRight(*v, "/"); trimmed != "" {
				*v = trimmed
			}
		}
	})
}

// List reads a list, each item with the shape that item makes. An empty list
// is not nil.
func List[T any](p *[]T, item func(*T) Shape) Shape {
	return func(d *Decoder) {
		if !d.is(jsontext.KindBeginArray, IsList) {
			return
		}
		if _, ok := d.next(); !ok {
			return
		}
		got := []T{}
		for i := 0; d.err == nil; i++ {
			if d.in.PeekKind() == jsontext.KindEndArray {
				d.next()
				*p = got
				return
			}
			var v T
			d.within(strconv.Itoa(i), item(&v))
			got = append(got, v)
		}
	}
}

// Map reads an object whose members are all alike. An empty one is not nil.
func Map[T any](p *map[string]T, value func(*T) Shape) Shape {
	return func(d *Decoder) {
		got := map[string]T{}
		d.eachMember(func(name string) {
			var v T
			d.within(name, value(&v))
			got[name] = v
		})
		*p = got
	}
}

// New reads into a new T that *p is made to point to.
func New[T any](p **T, shape func(*T) Shape) Shape {
	return func(d *Decoder) {
		v := new(T)
		shape(v)(d)
		*p = v
	}
}

// String is a string.
func String(p *string) Shape {
	return func(d *Decoder) {
		if !d.is(jsontext.KindString, IsString) {
			return
		}
		if tok, ok := d.next(); ok {
			*p = tok.String()
		}
	}
}

// Bool is true or false.
func Bool(p *bool) Shape {
	return func(d *Decoder) {
		if k := d.Peek(); k != IsBool && k != kindName(jsontext.KindInvalid) {
			d.Refuse("want " + IsBool + ", got " + k)
			return
		}
		if tok, ok := d.next(); ok {
			*p = tok.Bool()
		}
	}
}

// Whole is a whole number of lo to hi, written as one: no fraction, no exponent.
func Whole[T ~int | ~int64 | ~uint16 | ~uint64](p *T, lo, hi T) Shape {
	return func(d *Decoder) {
		if !d.is(jsontext.KindNumber, "a number") {
			return
		}
		tok, ok := d.next()
		if !ok {
			return
		}
		n, err := wholeOf[T](tok.String())
		if err != nil || n < lo || n > hi {
			d.Refuse(fmt.Sprintf("want a whole number of %d to %d", lo, hi))
			return
		}
		*p = n
	}
}

// wholeOf parses digits; a number that T cannot hold is an error.
func wholeOf[T ~int | ~int64 | ~uint16 | ~uint64](s string) (T, error) {
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		if v := T(u); v >= 0 && uint64(v) == u {
			return v, nil
		}
		return 0, strconv.ErrRange
	}
	i, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, err
	}
	if v := T(i); v < 0 && int64(v) == i {
		return v, nil
	}
	return 0, strconv.ErrRange
}

// Port is a port of 1 to 65535.
func Port(p *uint16) Shape { return Whole(p, 1, 65535) }

// Ports is a list of ports.
func Ports(p *[]uint16) Shape { return List(p, Port) }
