package inside

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWantCheck(t *testing.T) {
	many := make([]uint16, MaxPorts+1)
	for i := range many {
		many[i] = uint16(1000 + i)
	}
	for what, w := range map[string]Want{
		"nothing": {}, "a proxy": {ProxyPort: 3128}, "ports": {Ports: []uint16{1, 65535}}, "the most ports": {Ports: many[1:]},
	} {
		if err := w.Check(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for say, w := range map[string]Want{
		"proxy port 53: it is the sandbox's name server": {ProxyPort: 53},
		"proxy port 61: it is the sandbox's way out":     {ProxyPort: 61},
		"port 53: it is the sandbox's name server":       {Ports: []uint16{53}},
		"port 61: it is the sandbox's way out":           {Ports: []uint16{61}},
		"port 0: a port is 1 to 65535":                   {Ports: []uint16{0}},
		"port 5: it is named already and inside":         {Ports: []uint16{5, 6, 5}},
		"port 3128: it is the proxy's port":              {ProxyPort: 3128, Ports: []uint16{3128}},
		"257 are named, and at most 256 can be":          {Ports: many},
	} {
		if err := w.Check(); !errors.Is(err, ErrWant) || !strings.Contains(err.Error(), say) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

func TestParseFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		fd   int
		want Want
		rest []string
	}{
		{[]string{"--control=3"}, 3, Want{}, nil},
		{[]string{"--control=4", "--", "x"}, 4, Want{}, []string{"--", "x"}},
		{[]string{"--port=5", "--proxy-port=3128", "--control=9", "--port=6", "wall", "--port=7"}, 9, Want{ProxyPort: 3128, Ports: []uint16{5, 6}}, []string{"wall", "--port=7"}},
	} {
		fd, want, rest, err := ParseFlags(c.args)
		if err != nil || fd != c.fd || !sameWant(want, c.want) || !slices.Equal(rest, c.rest) {
			t.Errorf("%q: %d, %+v, %q, %v", c.args, fd, want, rest, err)
		}
	}
	for _, line := range []string{
		"", "--", "--port=5", "--control=2", "--control=0", "--control=-1", "--control=", "--control=03", "--control=+3", "--control= 3",
		"--control=9999999", "--control=3 --control=3", "--control=3 --proxy-port=0", "--control=3 --proxy-port=65536",
		"--control=3 --proxy-port=1 --proxy-port=1", "--control=3 --port=x", "--control=3 --port=53", "--control=3 --port=5 --port=5",
		"x --control=3", "--control 3",
	} {
		if fd, want, rest, err := ParseFlags(strings.Fields(line)); !errors.Is(err, ErrWant) {
			t.Errorf("%q: %d, %+v, %q, %v; want a refusal", line, fd, want, rest, err)
		}
	}
}

func sameWant(a, b Want) bool { return a.ProxyPort == b.ProxyPort && slices.Equal(a.Ports, b.Ports) }

// What the proxy writes the stage reads, and what is behind it stays as it is.
func FuzzFlags(f *testing.F) {
	f.Add(3, uint16(3128), uint16(80), uint16(5432), "--port=1")
	f.Add(100, uint16(0), uint16(1), uint16(2), "--")
	f.Fuzz(func(t *testing.T, fd int, proxy, one, two uint16, rest string) {
		w := Want{ProxyPort: proxy, Ports: []uint16{one, two}}
		got, want, left, err := ParseFlags(append(w.Flags(fd), "wall", rest))
		if (err == nil) != (w.Check() == nil && fd >= 3 && fd <= 1<<20) {
			t.Fatalf("%d, %+v: %v", fd, w, err)
		}
		if err == nil && (got != fd || !sameWant(w, want) || !slices.Equal(left, []string{"wall", rest})) {
			t.Errorf("%d, %+v became %d, %+v, %q", fd, w, got, want, left)
		}
	})
}
