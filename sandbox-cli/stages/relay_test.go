package stages

import (
	"slices"
	"strings"
	"testing"
)

func TestParseRelay(t *testing.T) {
	f, err := parseRelay(strings.Fields("--own-network --also /a=1 --also=/b=c=65535 --terminal --port 5432 --port=80 -- wall --also x"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.also, []reached{{"/a", 1}, {"/b=c", 65535}}) || !slices.Equal(f.ports, []uint16{5432, 80}) || !f.own || !f.terminal ||
		!slices.Equal(f.command, []string{"wall", "--also", "x"}) {
		t.Errorf("got %+v", f)
	}
	for _, port := range []uint16{1, 65535, 5432, 80} {
		if !f.taken(port) {
			t.Errorf("port %d is not the relay's", port)
		}
	}
	if f.taken(81) {
		t.Error("port 81 is the relay's")
	}
	for _, bad := range []string{
		"", "--", "-- x", "--also /a=1", "--also /a=1 --", "--also a=1 -- x", "--also /a/../b=1 -- x", "--also /a -- x", "--also /a=0 -- x",
		"--also /a=65536 -- x", "--also /a=01 -- x", "--also /a=1 --also /b=1 -- x", "--own-network --also /a=1 --port 1 -- x", "--own-network --also /a=53 -- x", "--own-network --also /a=1 --port 61 -- x",
		"--also /a=1 --port 2 -- x", "--also /a=1 --porte 2 -- x", "x", "--also",
	} {
		if f, err := parseRelay(strings.Fields(bad)); err == nil {
			t.Errorf("%q: taken: %+v", bad, f)
		}
	}
}
