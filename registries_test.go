package root_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Which registry serves a machine its packages is that machine's to say: a
// mirror, a proxy, a folder. So none is named here, and none in these tests:
// they are read from the machine that runs them.

// address is an http address and the host in it.
var address = regexp.MustCompile(`https?://[^\s"'<>|,]+`)

// hostsIn gives the hosts of the addresses in a text.
func hostsIn(text string) []string {
	var hosts []string
	for _, a := range address.FindAllString(text, -1) {
		if u, err := url.Parse(a); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(hosts)))
}

// registriesHere gives the hosts that serve this machine its packages: those of
// the go command, of npm where it is installed, and of apt.
func registriesHere(t *testing.T) []string {
	t.Helper()
	var said strings.Builder
	for _, argv := range [][]string{{"go", "env", "GOPROXY"}, {"npm", "config", "get", "registry"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		cancel()
		if err != nil {
			t.Logf("%s says nothing here: %v", strings.Join(argv, " "), err)
		}
		said.Write(out)
		said.WriteByte('\n')
	}
	lists, err := filepath.Glob("/etc/apt/sources.list.d/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(lists, "/etc/apt/sources.list") {
		text, err := os.ReadFile(name)
		if err == nil {
			said.Write(text)
			said.WriteByte('\n')
		}
	}
	return hostsIn(said.String())
}

// checkRegistries finds files that name one of the hosts.
func checkRegistries(tree fs.FS, hosts []string) ([]string, error) {
	files, err := filesOf(tree)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, name := range files {
		text, err := textOf(tree, name)
		if err != nil {
			return nil, err
		}
		for _, host := range hosts {
			if strings.Contains(strings.ToLower(text), host) {
				faults = append(faults, fmt.Sprintf("%s: names %s, a package registry of this machine", name, host))
			}
		}
	}
	return faults, nil
}

func TestNoRegistryNamed(t *testing.T) {
	hosts := registriesHere(t)
	t.Logf("%d registries serve this machine", len(hosts))
	faults, err := checkRegistries(here(), hosts)
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

func TestNoRegistryNamedFails(t *testing.T) {
	hosts := hostsIn("https://mirror.example/simple|direct\nhttp://apt.example:8080/debian bookworm main\nsome text\n")
	if want := []string{"apt.example", "mirror.example"}; !slices.Equal(hosts, want) {
		t.Fatalf("hosts %q, want %q", hosts, want)
	}
	faults, err := checkRegistries(made(map[string]string{
		"a/x.md":  "fetch it from Mirror.Example",
		"b.go":    "package b // from an example",
		"bin/c":   "mirror.example",
		"d/e.png": "mirror.example\x00",
	}), hosts)
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, faults, "a/x.md", "mirror.example")
}
