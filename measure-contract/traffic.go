package measure

import (
	"strconv"
	"strings"
)

// Traffic is what one running sandbox's proxy has carried since it started:
// one entry of what lnk sandbox traffic --json prints, and the form of a
// published record. Every call it let through counts, open ones too.
type Traffic struct {
	_ [0]func()

	// PID is the proxy's process, 1 or more.
	PID int `json:"pid"`
	// Sandbox is the sandbox's name.
	Sandbox string `json:"sandbox"`
	// Up is bytes from the sandbox.
	Up uint64 `json:"up"`
	// Down is bytes to the sandbox.
	Down uint64 `json:"down"`
	// Tokens is what the answers of its model routes used, all together. Nil,
	// and left out, is a sandbox that has none.
	Tokens *Tokens `json:"tokens,omitempty"`
}

// markerMax is how long a start marker may be.
const markerMax = 64

// RecordName is the name of the file that a proxy publishes its Traffic in:
// "<pid>-<start>.json". The start marker, 1 to 64 letters and digits, tells a
// process from a later one with its id.
func RecordName(pid int, start string) string {
	return strconv.Itoa(pid) + "-" + start + ".json"
}

// ParseRecordName reads a name that RecordName made; ok is false for another.
func ParseRecordName(name string) (pid int, start string, ok bool) {
	stem, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0, "", false
	}
	id, start, ok := strings.Cut(stem, "-")
	if !ok {
		return 0, "", false
	}
	pid, err := strconv.Atoi(id)
	if err != nil || pid < 1 || strconv.Itoa(pid) != id || !marker(start) {
		return 0, "", false
	}
	return pid, start, true
}

func marker(s string) bool {
	if s == "" || len(s) > markerMax {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
