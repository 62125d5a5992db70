package main

import (
	"slices"
	"testing"
)

// What is linked follows the system that is built for, which GOOS and GOARCH
// may say: the entry symbol is there on one alone.
func TestLinked(t *testing.T) {
	for _, c := range []struct {
		system, arch string
		want         []string
	}{
		{"linux", "amd64", []string{"-ldflags=-E=" + entry}},
		{"linux", "arm64", nil},
		{"darwin", "amd64", nil},
		{"darwin", "arm64", nil},
	} {
		if got := linked(c.system, c.arch); !slices.Equal(got, c.want) {
			t.Errorf("%s/%s: %q", c.system, c.arch, got)
		}
	}
}
