package changelog

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Entry is what a changelog says of one version.
type Entry struct {
	// Version is vX.Y.Z.
	Version string
	// Day is the day of its release, YYYY-MM-DD, or empty when it has none.
	Day string
	// Text is what is written below its heading.
	Text string
}

var (
	anyHeading = regexp.MustCompile(`(?m)^## .*$`)
	heading    = regexp.MustCompile(`^## (v\d+\.\d+\.\d+) \((unreleased|\d{4}-\d{2}-\d{2})\)$`)
)

// Read gives the top entry of the changelog in a module's folder.
func Read(folder string) (Entry, error) {
	name := filepath.Join(folder, "CHANGELOG.md")
	data, err := os.ReadFile(name)
	if err != nil {
		return Entry{}, err
	}
	entry, err := parse(string(data))
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", name, err)
	}
	return entry, nil
}

func parse(text string) (Entry, error) {
	places := anyHeading.FindAllStringIndex(text, 2)
	if len(places) == 0 {
		return Entry{}, fmt.Errorf("no heading that starts with \"## \"")
	}
	line := text[places[0][0]:places[0][1]]
	found := heading.FindStringSubmatch(line)
	if found == nil {
		return Entry{}, fmt.Errorf("its first heading is %q, not \"## vX.Y.Z (unreleased)\" or with a day", line)
	}
	end := len(text)
	if len(places) > 1 {
		end = places[1][0]
	}
	entry := Entry{Version: found[1], Day: found[2], Text: strings.TrimSpace(text[places[0][1]:end])}
	if entry.Day == "unreleased" {
		entry.Day = ""
	}
	return entry, nil
}

// Allows says whether version next may break what version last promised: a
// higher major version, or below v1 a higher minor one.
func Allows(last, next string) bool {
	l, n := numbers(last), numbers(next)
	if l[0] == 0 && n[0] == 0 {
		return n[1] > l[1]
	}
	return n[0] > l[0]
}

// numbers gives the three numbers of vX.Y.Z; what is none counts as 0.
func numbers(version string) [3]int {
	var three [3]int
	for i, part := range strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3) {
		three[i], _ = strconv.Atoi(part)
	}
	return three
}

// Higher says whether version a is higher than version b.
func Higher(a, b string) bool {
	x, y := numbers(a), numbers(b)
	return slices.Compare(x[:], y[:]) > 0
}
