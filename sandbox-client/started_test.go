package client

import (
	"errors"
	"io/fs"
	"testing"
)

func TestLinuxMarker(t *testing.T) {
	const boot = "0c7a5a2e-6d4b-4f0e-9a55-3f8f5f1e7c11\n"
	const after = " S 1 2 3 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 10 11 18446744073709551615"
	for _, c := range []struct{ stat, boot, want string }{
		{"812 (lnk-sandbox)" + after, boot, "4711x0c7a5a2e"},
		{"812 (a) R 1 2 (b))" + after, boot, "4711x0c7a5a2e"}, // a name of its own choice
		{"812 ()" + after, boot, "4711x0c7a5a2e"},
		{"812 (a) S 1 2", boot, ""},
		{"812 (a", boot, ""},
		{"", boot, ""},
		{"812 (a) S 1 2 3 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 -5 10", boot, ""},
		{"812 (a)" + after, "", ""},
		{"812 (a)" + after, "../x", ""},
	} {
		got, err := linuxMarker([]byte(c.stat), []byte(c.boot))
		if got != c.want || (c.want == "") != (err != nil) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %q (%v), want %q", c.stat, got, err, c.want)
		}
	}
	for _, state := range []string{"Z", "X"} {
		if _, err := linuxMarker([]byte("812 (a) "+state+after[2:]), []byte(boot)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("state %s: %v", state, err)
		}
	}
}

func TestDarwinMarker(t *testing.T) {
	info := make([]byte, 648)
	copy(info, []byte{0x80, 0x51, 0x01, 0, 0, 0, 0, 0, 0x40, 0x42, 0x0f, 0})
	if got, err := darwinMarker(info); err == nil {
		t.Errorf("a million microseconds: %q", got)
	}
	info[8] = 0x3f
	if got, err := darwinMarker(info); err != nil || got != "86400x999999" {
		t.Errorf("%q (%v)", got, err)
	}
	for _, bad := range [][]byte{nil, info[:11], make([]byte, 648)} {
		if got, err := darwinMarker(bad); err == nil {
			t.Errorf("%d bytes: %q", len(bad), got)
		}
	}
}
