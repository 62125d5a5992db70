package linuxwall

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// same compares confinements, whose parts may not be compared as they are.
var same = cmp.Options{
	cmp.Transformer("Commands", func(c client.Commands) []string {
		only, restricted := c.Only()
		if !restricted {
			return []string{"any"}
		}
		return append([]string{"only"}, only...)
	}),
	cmp.Transformer("Net", client.Net.ModeName),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == "._" }, cmp.Ignore()),
}

var strange = []string{
	"/a b", `/it's "quoted"`, "/k=v", "/--", "/-x", "/--write", "/\xff\xfe", "/é", "/\\", "/$(id)", "/tab\there",
}

func TestArgsRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name string
		c    client.Confinement
		net  NetFrom
	}{
		{"least", client.Confinement{Name: "a", Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{})}, Own},
		{"given", client.Confinement{Name: "a", Commands: client.AnyCommand()}, Given},
		{"everything", client.Confinement{
			Name: "web-1", Write: strange, WriteDotFiles: strange[:3], Read: strange, ReadHome: true, Hide: strange,
			TmpPrefix: "web-", Terminal: true, Commands: client.OnlyCommands(strange...), DeveloperTools: true,
			Net: client.NetOf(client.Closed{}),
		}, Own},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv := []string{"sh", "-c", "--net own -- x", "--"}
			got, net, rest, err := ParseArgs(append(Args(c.c, c.net), argv...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.c, got, same); diff != "" {
				t.Errorf("another confinement (-want +got):\n%s", diff)
			}
			if net != c.net {
				t.Errorf("net is %v, want %v", net, c.net)
			}
			if !slices.Equal(rest, argv) {
				t.Errorf("argv is %q", rest)
			}
		})
	}
}

func TestArgsNameAFlagAPath(t *testing.T) {
	c := client.Confinement{Name: "a", Write: []string{"/x", "/y"}, Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{})}
	want := []string{"--name", "a", "--write", "/x", "--write", "/y", "--commands", "any", "--net", "own", "--"}
	if got := Args(c, Own); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The folders by whose sockets a network is carried are closed to the program.
func TestArgsHideTheProxysFolder(t *testing.T) {
	c := client.Confinement{
		Name: "a", Commands: client.AnyCommand(), Hide: []string{"/h"},
		Net: client.NetOf(client.Proxied{Proxy: client.Proxy{Dir: "/px"}}),
	}
	got, _, _, err := ParseArgs(append(Args(c, Given), "true"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/h", "/px"}; !slices.Equal(got.Hide, want) {
		t.Errorf("hide is %q, want %q", got.Hide, want)
	}
	if len(c.Hide) != 1 {
		t.Error("the caller's own list was changed")
	}
}

func TestParseArgsRefuses(t *testing.T) {
	full := []string{"--name", "a", "--commands", "any", "--net", "own"}
	with := func(args ...string) []string { return append(slices.Clone(full), args...) }
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing", nil, "no --"},
		{"no end", full, "no --"},
		{"no program", with("--"), "no program"},
		{"no name", append(full[2:6:6], "--", "true"), "--name: missing"},
		{"no commands", []string{"--name", "a", "--net", "own", "--", "true"}, "--commands: missing"},
		{"no net", []string{"--name", "a", "--commands", "any", "--", "true"}, "--net: missing"},
		{"a flag of another", with("--bind", "/x", "--", "true"), "--bind: no such flag"},
		{"a flag with =", with("--write=/x", "--", "true"), "--write=/x: no such flag"},
		{"a word", with("/x", "--", "true"), "/x: no such flag"},
		{"an empty word", with("", "--", "true"), ": no such flag"},
		{"no value", with("--write"), "--write: lacks its value"},
		{"no value of a word", with("--tmp-prefix"), "--tmp-prefix: lacks its value"},
		{"an empty value", with("--tmp-prefix", "", "--", "true"), "--tmp-prefix: empty"},
		{"twice", with("--name", "b", "--", "true"), "--name: stands twice"},
		{"a switch twice", with("--terminal", "--terminal", "--", "true"), "--terminal: stands twice"},
		{"another net", []string{"--name", "a", "--commands", "any", "--net", "host", "--", "true"}, "--net: host: not one of"},
		{"other commands", []string{"--name", "a", "--commands", "some", "--net", "own", "--", "true"}, "--commands: some: not one of"},
		{"only beside any", with("--only", "/bin/x", "--", "true"), "--only: beside --commands any"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, net, argv, err := ParseArgs(c.args)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if got.Name != "" || net != 0 || argv != nil {
				t.Errorf("gave %v, %v, %q with the error", got, net, argv)
			}
		})
	}
}

// The path of a flag that is -- is a path, and does not end the flags.
func TestParseArgsTakesAnyValue(t *testing.T) {
	c, _, argv, err := ParseArgs([]string{"--write", "--", "--name", "--net", "--commands", "any", "--net", "own", "--", "x"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "--net" || !slices.Equal(c.Write, []string{"--"}) || !slices.Equal(argv, []string{"x"}) {
		t.Errorf("name %q, write %q, argv %q", c.Name, c.Write, argv)
	}
}

// FuzzParseArgs holds that what is understood is said the same way again.
func FuzzParseArgs(f *testing.F) {
	f.Add("--name\x00a\x00--commands\x00any\x00--net\x00own\x00--\x00true")
	f.Add("--name\x00a\x00--write\x00/x\x00--write\x00--\x00--commands\x00only\x00--only\x00/x\x00--net\x00given\x00--\x00sh\x00--")
	f.Add("--hide\x00/\xff\x00--read-home\x00--terminal\x00--developer-tools\x00--tmp-prefix\x00p\x00--\x00x")
	f.Fuzz(func(t *testing.T, joined string) {
		c, net, argv, err := ParseArgs(strings.Split(joined, "\x00"))
		if err != nil {
			return
		}
		again, net2, argv2, err := ParseArgs(append(Args(c, net), argv...))
		if err != nil {
			t.Fatalf("what was read is refused when written again: %v", err)
		}
		if diff := cmp.Diff(c, again, same); diff != "" || net != net2 || !slices.Equal(argv, argv2) {
			t.Fatalf("it is read as something else again: %s %v %v %q %q", diff, net, net2, argv, argv2)
		}
	})
}
