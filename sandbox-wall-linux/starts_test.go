package linuxwall

import (
	"encoding/binary"
	"os"
	"reflect"
	"strings"
	"testing"
)

// elf makes the start of an ELF file whose loader is named so; the name stands
// at an offset, behind what else is there.
func elf(loader string, at int) string {
	b := make([]byte, at)
	copy(b, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint64(b[32:], 64)
	binary.LittleEndian.PutUint16(b[54:], 56)
	binary.LittleEndian.PutUint16(b[56:], 2)
	binary.LittleEndian.PutUint32(b[64:], 6)
	binary.LittleEndian.PutUint32(b[64+56:], 3)
	binary.LittleEndian.PutUint64(b[64+56+8:], uint64(at))
	binary.LittleEndian.PutUint64(b[64+56+32:], uint64(len(loader)+1))
	return string(b) + loader + "\x00"
}

func TestStartOf(t *testing.T) {
	for text, want := range map[string]Start{
		"":                                     {},
		"#":                                    {},
		"echo\n#!/bin/sh":                      {},
		"#!/bin/sh":                            {Script: []string{"/bin/sh"}},
		"#! /usr/bin/env -S a  b\t\nc":         {Script: []string{"/usr/bin/env", "-S", "a", "b"}},
		"#!\n/bin/sh":                          {},
		elf("/lib64/ld.so", 200):               {Loader: "/lib64/ld.so"},
		elf("/lib64/ld.so", 900_000):           {Loader: "/lib64/ld.so"},
		elf("/lib64/ld.so", 200)[:100]:         {},
		elf(strings.Repeat("x", 5000), 200):    {},
		"\x7fELF\x01\x01" + elf("/l", 200)[6:]: {},
	} {
		if got := startOf(strings.NewReader(text)); !(len(got.Script) == 0 && len(want.Script) == 0 || reflect.DeepEqual(got.Script, want.Script)) || got.Loader != want.Loader {
			t.Errorf("%.40q: %+v, want %+v", text, got, want)
		}
	}
	f, err := os.Open("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := startOf(f); !strings.Contains(got.Loader, "ld-") {
		t.Errorf("/bin/sh: %+v", got)
	}
}

func FuzzStartOf(f *testing.F) {
	f.Add("#!/bin/sh -e\n")
	f.Add(elf("/lib64/ld.so", 200))
	f.Fuzz(func(t *testing.T, text string) {
		s := startOf(strings.NewReader(text))
		if len(s.Script) > 0 && !strings.HasPrefix(text, "#!") || s.Loader != "" && !strings.Contains(text, s.Loader) {
			t.Errorf("%q: %+v", text, s)
		}
	})
}

func TestThroughEnv(t *testing.T) {
	for words, want := range map[string]string{
		"node": "node", "-S node --flag": "node", "-i A=b -u C node": "node", "-Snode -x": "node", "": "", "-i": "",
		"-S A=b -C /x deno run": "deno", "--chdir /x --unset A perl": "perl",
	} {
		if got := throughEnv(strings.Fields(words)); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
