package stages

import (
	"os"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
)

// The folder is given to our own wall, made by the kernel's own calls, and to
// nothing else; who may not make it gives none.
func TestGive(t *testing.T) {
	wall := []string{"/lnk", "wall", "--settings", "/s", "--home", "/h"}
	c := client.Confinement{Name: "x", Commands: client.AnyCommand()}
	words := append(append(wall[:len(wall):len(wall)], linuxwall.Args(c, linuxwall.Given)...), "--", "true")
	can := os.Geteuid() == 0 && direct.System(nil).Others(givenFolder)
	for _, c := range []struct {
		name    string
		self    string
		command []string
		gives   bool
	}{
		{"our wall", "/lnk", words, can},
		{"another program's", "/other", words, false},
		{"another step", "/lnk", []string{"/lnk", "relay"}, false},
		{"what is no wall's", "/lnk", []string{"/lnk", "wall", "--x"}, false},
	} {
		etc, command := Give(c.self, c.command, 7)
		if etc != nil {
			etc.Close()
		}
		if (etc != nil) != c.gives {
			t.Errorf("%s: gives one: %v, want %v", c.name, etc != nil, c.gives)
		}
		want := strings.Join(c.command, " ")
		if etc != nil {
			want = strings.Replace(want, "wall ", "wall --given 7 ", 1)
		}
		if got := strings.Join(command, " "); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
		if etc == nil {
			continue
		}
		f, err := parseWallFlags(command[2:])
		if err != nil || f.given[givenFolder] != 7 {
			t.Errorf("%s: read as %v, %v", c.name, f.given, err)
		}
	}
	for _, fd := range []string{"2", "x", ""} {
		if _, err := parseWallFlags(append([]string{givenFlag, fd}, wall[2:]...)); err == nil {
			t.Errorf("descriptor %q is taken", fd)
		}
	}
}
