package launch

import (
	"slices"
	"strings"
	"testing"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

func TestCandidates(t *testing.T) {
	for _, row := range []struct {
		name, path string
		set        bool
		dir        string
		want       string
	}{
		{"sh", "/a:/b", true, "", "/a/sh /b/sh"},
		{"sh", "", false, "", "/bin/sh /usr/bin/sh"},
		{"sh", "", true, "/w", "/w/./sh"}, // an empty PATH is the current folder
		{"sh", "/a::b", true, "/w", "/a/sh /w/./sh /w/b/sh"},
		{"sh", "/a::b", true, "", "/a/sh"},
		{"/x/sh", "/a", true, "/w", "/x/sh"},
		{"./sh", "/a", true, "/w", "/w/./sh"},
		{"d/sh", "/a", true, "", ""},
	} {
		if got := strings.Join(candidates(row.name, row.path, row.set, row.dir), " "); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

func TestInterpreter(t *testing.T) {
	long := "#!/" + strings.Repeat("x", linuxwall.HeadSize-3)
	for head, want := range map[string]string{
		"#!/bin/sh\n": "/bin/sh", "#! /usr/bin/env -S node\nx": "/usr/bin/env", "#!/bin/sh": "/bin/sh",
		"#!/bin/sh\r\n": "/bin/sh\r", "#!\t/bin/sh\t-e\n": "/bin/sh",
		"#!\n/bin/sh": "", "": "", "\x7fELF": "", "# !/bin/sh\n": "", long: "", "#!/bin/sh -" + strings.Repeat("x", linuxwall.HeadSize): "/bin/sh",
	} {
		if got := interpreter([]byte(head)); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

const someStatus = `Name:	sh
Umask:	0022
State:	T (stopped)
Tgid:	4242
PPid:	4241
NSpid:	4242	7	2
SigPnd:	0000000000000000
SigIgn:	0000000000080001
SigCgt:	0000000000004002
`

func TestReadStatus(t *testing.T) {
	p := readStatus(someStatus)
	if p.state != 'T' || p.parent != 4241 || p.inner != 2 || p.depth != 3 || !p.stopped() {
		t.Errorf("%+v", p)
	}
	// Linux' numbers, wherever this runs.
	const hup, interrupt, term, tstp = 1, 2, 15, 20
	if !p.ignores(tstp) || !p.ignores(hup) || p.ignores(interrupt) || !p.catches(term) || !p.catches(interrupt) || p.catches(tstp) {
		t.Errorf("%+v", p)
	}
	if p := readStatus("State:\nPPid\n"); p != (process{}) {
		t.Errorf("%+v", p)
	}
}

func TestReadPIDs(t *testing.T) {
	if got := readPIDs("12 13 \n"); !slices.Equal(got, []int{12, 13}) {
		t.Error(got)
	}
	if got := readPIDs(""); got != nil {
		t.Error(got)
	}
}

// bubblewrap's own words, of 0.8.0.
func TestReadWhatBubblewrapSays(t *testing.T) {
	const started = `{ "child-pid": 3017, "cgroup-namespace": 4026532217, "ipc-namespace": 4026532216 }` + "\n"
	if readExecuted(started) || !readExecuted(started+`{ "exit-code": 0 }`+"\n") {
		t.Error("executed")
	}
	for text, want := range map[string]int{started: 3017, "": 0, `{ "child-pid": `: 0, `{ "child-pid": 12`: 0, `{ "child-pid": x }`: 0} {
		if got := readChild(text); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// FuzzReadStatus: what a process can call itself does not change what is read
// of it; its name comes first, and the kernel escapes newlines in it.
func FuzzReadStatus(f *testing.F) {
	f.Add("sh")
	f.Add("x\\nState: R")
	f.Add("PPid:\t1")
	want := readStatus(someStatus)
	f.Fuzz(func(t *testing.T, name string) {
		name = strings.NewReplacer("\n", `\n`, `\`, `\\`).Replace(name)
		if got := readStatus(strings.Replace(someStatus, "sh", name, 1)); got != want {
			t.Errorf("%q: %+v", name, got)
		}
	})
}
