package tool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// The program types on a tool's terminal: what pages the tool's output there
// starts nothing for it and writes nothing.
func TestPagerOnlyShows(t *testing.T) {
	l := start(t, "seq 500 | less")
	w := l.call(of(frame.Terminal, frame.TerminalBytes(frame.WindowOf{Rows: 24, Cols: 80}, true)...), of(frame.Go))
	w.until(frame.Output) // it reads keys now
	made := filepath.Join(l.dir, "made")
	for _, keys := range []string{"!>" + made + "-by-shell\n\n", "|.cat >" + made + "-by-pipe\n\n", "s" + made + "-by-save\n\n", "qqqq"} {
		w.send(of(frame.Input, []byte(keys)...))
	}
	w.until(frame.Exit)
	if entries, err := os.ReadDir(l.dir); err != nil || len(entries) > 0 {
		t.Errorf("the pager made %v, %v", entries, err)
	}
}
