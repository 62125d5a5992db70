package cli

import (
	"bytes"
	"testing"

	"github.com/lnkhq/lnk-sandbox/probes"
)

// A check ends with 1 when something leaked, and only then.
func TestCheckStatus(t *testing.T) {
	for _, c := range []struct {
		words  []probes.Word
		status int
	}{
		{[]probes.Word{probes.Blocked, probes.Allowed, probes.Failed, probes.Open, probes.Missed}, 0},
		{[]probes.Word{probes.Blocked, probes.Leaked, probes.Allowed}, 1},
		{nil, 0},
	} {
		var lines []probes.Line
		for _, w := range c.words {
			lines = append(lines, probes.Line{Word: w, Name: "x", Detail: "a\nb"})
		}
		var out bytes.Buffer
		err := found(&out, lines)
		var silent silentStatus
		if asSilent(err, &silent); int(silent) != c.status || bytes.Count(out.Bytes(), []byte("\n")) != len(lines) {
			t.Errorf("%v: %v %q", c.words, err, out.String())
		}
	}
}
