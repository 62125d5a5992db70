package suite

import "testing"

func TestTimeWasUp(t *testing.T) {
	const begun = "fuzz: elapsed: 9s, execs: 69730 (8215/sec), new interesting: 5 (total: 66)\n--- FAIL: FuzzHead (10.03s)\n"
	for out, want := range map[string]bool{
		begun + "    context deadline exceeded\nFAIL\nexit status 1\n":                                                                                 true,
		begun + "    --- FAIL: FuzzHead (0.00s)\n        head_test.go:1: allowed\n    \n    Failing input written to testdata/fuzz/FuzzHead/1\nFAIL\n": false,
		begun + "    context deadline exceeded\nFAIL\n    Failing input written to testdata/fuzz/FuzzHead/1\n":                                         false,
		begun + "    fuzzing process hung or terminated unexpectedly: exit status 2\n    Failing input written to testdata/fuzz/FuzzHead/1\nFAIL\n":    false,
		"": false,
	} {
		if got := timeWasUp([]byte(out)); got != want {
			t.Errorf("%q: %v", out, got)
		}
	}
}
