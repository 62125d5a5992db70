package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandsBelow gives every command that is not hidden, by what people type.
func commandsBelow(c *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{c.CommandPath(): c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			for path, one := range commandsBelow(sub) {
				all[path] = one
			}
		}
	}
	return all
}

func TestHelpReads(t *testing.T) {
	ofLibrary := regexp.MustCompile(`stringArray|\buints?\b|\bint\b|\bstring\b|\(default (\[\])?\)|\(default -1\)`)
	for path, c := range commandsBelow(newRoot(Streams{})) {
		var out bytes.Buffer
		if status := runCommand(Streams{Out: &out, Err: &out}, append(strings.Fields(path)[2:], "--help")); status != 0 {
			t.Errorf("%s --help: status %d: %s", path, status, out.String())
		}
		if found := ofLibrary.FindString(out.String()); found != "" {
			t.Errorf("%s --help has %q, which says nothing to a reader:\n%s", path, found, out.String())
		}
		if _, behind, ok := strings.Cut(c.UseLine(), " -- "); ok && strings.Contains(behind, "[flags]") || strings.HasSuffix(c.UseLine(), "> [flags]") {
			t.Errorf("%s is spelled %q: flags there would be the program's", path, c.UseLine())
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if prose := !strings.HasPrefix(line, " "); prose && len(line) > 90 {
				t.Errorf("%s --help: a line of %d characters: %q", path, len(line), line)
			}
		}
	}
}

// What most runs need is told before what few do.
func TestHelpTellsTheNeededFirst(t *testing.T) {
	var out bytes.Buffer
	runCommand(Streams{Out: &out, Err: &out}, []string{"run", "--help"})
	at := -1
	for _, flag := range []string{"--yes ", "--write ", "--read ", "--internet-host ", "--spec ", "--tcp ", "--secret ", "--memory ", "--bubblewrap "} {
		next := strings.Index(out.String(), "\n      "+flag)
		if next <= at {
			t.Errorf("%sat %d, behind %d:\n%s", flag, next, at, out.String())
		}
		at = next
	}
}

// A wrong call is refused with what is wanted, and never with a status that is
// an answer, as 1 is of why.
func TestWrongCallsAreRefused(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"why", "lnk sandbox why: want `lnk sandbox why [flags] <url | host[:port] | path>`\n"},
		{"why a b", "lnk sandbox why: want `lnk sandbox why "},
		{"stop now", "lnk sandbox stop: want `lnk sandbox stop`\n"},
		{"start now", "lnk sandbox start: want "},
		{"pause", "lnk sandbox pause: want `lnk sandbox pause <sandbox> [--why <text>]`\n"},
		{"resume", "lnk sandbox resume: want "},
		{"paused x", "lnk sandbox paused: want "},
		{"ready x", "lnk sandbox ready: want "},
		{"wrap x", "lnk sandbox wrap: want "},
		{"traffic x", "lnk sandbox traffic: want "},
		{"log a b", "lnk sandbox log: want "},
		{"tool list x", "lnk sandbox tool list: want "},
		{"tool remove", "lnk sandbox tool remove: want "},
		{"tool add x", "lnk sandbox tool add: want "},
		{"asks allow", "lnk sandbox asks allow: want "},
		{"asks nosuch", "lnk sandbox asks: \"nosuch\": no such command: `lnk sandbox asks --help` lists them\n"},
		{"tool nosuch", "lnk sandbox tool: \"nosuch\": no such command: `lnk sandbox tool --help` lists them\n"},
	} {
		var out, said bytes.Buffer
		status := runCommand(Streams{Out: &out, Err: &said}, strings.Fields(c.args))
		if status != 2 || !strings.HasPrefix(said.String(), c.want) || strings.Count(said.String(), "\n") != 1 || out.Len() > 0 {
			t.Errorf("%s: status %d, out %q, errors %q, want 2 and %q", c.args, status, out.String(), said.String(), c.want)
		}
	}
}

// What the texts for people call a flag is one.
func TestFlagsOfTheTextsAreThere(t *testing.T) {
	var there []string
	for _, c := range commandsBelow(newRoot(Streams{})) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { there = append(there, "--"+f.Name) })
	}
	// Flags of other programs, and of the hidden stage proxy.
	there = append(there, "--no-sandbox", "--shared", "--data-binary", "--dir", "--blank", "--also", "--help")
	for _, file := range []string{"../README.md", "README.md"} {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(file, "../") {
			continue // the module is there by itself
		}
		if err != nil {
			t.Fatal(err)
		}
		flags := regexp.MustCompile("(?:^|[ `(\"])(--[a-z][a-z-]*[a-z])").FindAllSubmatch(text, -1)
		if len(flags) == 0 {
			t.Errorf("%s names no flag", file)
		}
		for _, m := range flags {
			if !slices.Contains(there, string(m[1])) {
				t.Errorf("%s names %s, and no command has it", file, m[1])
			}
		}
	}
}

// The hidden stage has help too, for who starts it by hand.
func TestHelpOfTheProxy(t *testing.T) {
	for _, args := range []string{"--help", "-h", "--hold --help"} {
		var out, said bytes.Buffer
		status, err := proxyStage(Streams{Out: &out, Err: &said}, strings.Fields(args))
		if status != 0 || err != nil || said.Len() > 0 {
			t.Errorf("%s: status %d, %v, errors %q", args, status, err, said.String())
		}
		for _, want := range []string{"lnk sandbox run", "--hold", "--dir", "--host", "--blank"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %s in:\n%s", args, want, out.String())
			}
		}
	}
}
