package carry_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every recorded answer of package tokens arrives as it was sent, wherever it
// is cut on the way, and is counted as it says.
func TestRecordedAnswersArrive(t *testing.T) {
	files, err := filepath.Glob("../../tokens/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded answers", err)
	}
	var body string
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for rest := body; rest != ""; {
			n := 1 + rand.IntN(min(len(rest), 200))
			io.WriteString(w, rest[:n])
			w.(http.Flusher).Flush()
			rest = rest[n:]
		}
	})
	l := start(t, model("http://"+at), nil)
	var want [6]uint64
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for one := range strings.SplitSeq(string(text), "== ") {
			lines := strings.SplitN(one, "\n", 4)
			if len(lines) < 4 {
				continue
			}
			body = lines[3]
			method, path, _ := strings.Cut(lines[1], " ")
			if _, got := l.ask(method, path, "{}"); got != body {
				t.Errorf("%s: it arrived as %q, want %q", lines[0], got, body)
			}
			add(&want, lines[2])
			if got := l.counts(want[0]); got != want {
				t.Fatalf("%s: counted %v, want %v", lines[0], got, want)
			}
		}
	}
	if want[0] < 50 {
		t.Errorf("only %d answers", want[0])
	}
}

// add adds what testdata says of an answer.
func add(sum *[6]uint64, said string) {
	sum[0]++
	if said == "unmetered" {
		sum[1]++
		return
	}
	words := strings.Fields(said)
	for i := 0; i+1 < len(words); i += 2 {
		var n uint64
		fmt.Sscan(words[i+1], &n)
		sum[map[string]int{"input": 2, "output": 3, "cached": 4, "written": 5}[words[i]]] += n
	}
}
