package noexec

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

var whole = Orders{
	Store: "/home/u/.lnk/sandbox/empty",
	Empty: []Empty{{Perm: 0o1777}, {Perm: 0o700, Size: 2 << 30}},
	Places: []Place{
		{Path: "/usr/bin/git", Dev: 2049, Ino: 1<<63 + 5, Code: true},
		{Path: "/usr/lib/x y\n\xff", Dev: 1, Ino: 2},
	},
	NoExec: true,
	Binds:  []Place{{Path: "/home/u/work", Dev: 3, Ino: 4}},

	ReadOnly: []string{"/dev/null", "/dev/pts/3"},
}

// What is written is read back, and nothing else is taken for it.
func TestEncode(t *testing.T) {
	for _, o := range []Orders{whole, {}, {Store: "/s"}} {
		got, err := decode(o.Encode())
		if err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("%+v: %v, want %+v", got, err, o)
		}
	}
	text := whole.Encode()
	for i := range text {
		if _, err := decode(text[:i]); !errors.Is(err, errMalformed) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	for name, o := range map[string]Orders{
		"a path that is relative":       {Places: []Place{{Path: "x"}}},
		"a device that is":              {ReadOnly: []string{"null"}},
		"empty ones and nowhere to put": {Empty: []Empty{{}}},
	} {
		if _, err := decode(o.Encode()); !errors.Is(err, errMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := decode(append(whole.Encode(), 0)); !errors.Is(err, errMalformed) {
		t.Errorf("something behind them: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(whole.Encode())
	f.Add([]byte(version + "\x00/s\x00\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := decode(text)
		if err != nil {
			return
		}
		again, err := decode(o.Encode())
		if err != nil || !reflect.DeepEqual(again, o) {
			t.Errorf("%+v is read back as %+v: %v", o, again, err)
		}
		if len(o.Places)+len(o.Binds) > len(text) || bytes.Count(text, []byte{0}) < len(o.Places) {
			t.Errorf("%d places of %d bytes", len(o.Places), len(text))
		}
	})
}
