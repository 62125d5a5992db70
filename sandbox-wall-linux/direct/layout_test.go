package direct

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

func TestLayout(t *testing.T) {
	steps := []linuxwall.Step{
		{Verb: linuxwall.Empty, At: "/"},
		{Verb: linuxwall.Devices, At: "/dev"},
		{Verb: linuxwall.Empty, At: "/dev/shm"},
		{Verb: linuxwall.Read, At: "/dev/pts/x"},
		{Verb: linuxwall.Write, At: "/home/u/work"},
		{Verb: linuxwall.Close, At: "/home/u/work/.git"},
		{Verb: linuxwall.Close, At: "/home/u/work/shut"},
		{Verb: linuxwall.Write, At: "/home/u/work/shut/open/again"},
		{Verb: linuxwall.CloseFile, At: "/home/u/work/shut/open/again/file"},
		{Verb: linuxwall.Empty, At: "/home/u/work/shut/open/more"},
		{Verb: linuxwall.MakeLink, At: "/var/run"},
		{Verb: linuxwall.Seal, At: "/home/u/work/.git"},
		{Verb: linuxwall.Seal, At: "/home/u/work/shut"},
		{Verb: linuxwall.Seal, At: "/"},
	}
	all, err := layout(steps)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s %s", p.Verb, p.At)
		if p.own {
			fmt.Fprintf(&b, " own in %s", p.base)
		}
		for _, m := range p.make {
			fmt.Fprintf(&b, " make %s", m)
		}
		if p.shared {
			b.WriteString(" shared")
		}
		if p.skip {
			b.WriteString(" skip")
		}
		b.WriteString("\n")
	}
	want := `empty /
dev /dev own in /
empty /dev/shm own in /dev
read /dev/pts/x own in /dev
write /home/u/work own in / make /home make /home/u
close /home/u/work/.git shared
close /home/u/work/shut
write /home/u/work/shut/open/again own in /home/u/work/shut make /home/u/work/shut/open
close /home/u/work/shut/open/again/file
empty /home/u/work/shut/open/more own in /home/u/work/shut
link /var/run own in / make /var
seal /home/u/work/.git skip
seal /home/u/work/shut
seal /
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestLayoutRefuses(t *testing.T) {
	for _, steps := range [][]linuxwall.Step{
		{},
		{{Verb: linuxwall.Empty, At: "/tmp"}},
		{{Verb: linuxwall.Empty, At: "/"}, {Verb: linuxwall.Empty, At: "/a/../b"}},
		{{Verb: linuxwall.Empty, At: "/"}, {Verb: linuxwall.Empty, At: "a"}},
	} {
		if _, err := layout(steps); err == nil {
			t.Errorf("%v: no error", steps)
		}
	}
}
