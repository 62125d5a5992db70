package labtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CA gives the certificate of the lab's authority, in PEM.
func CA(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(os.Getenv(stateVariable), "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Queries gives the names that the world's resolver was asked, in order.
func Queries(t testing.TB) []string { return lines(t, "queries") }

// Requests gives what the world's servers were asked, in order:
// "<method> <host><path>", or "ECHO <address>".
func Requests(t testing.TB) []string { return lines(t, "requests") }

func lines(t testing.TB, record string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(os.Getenv(stateVariable), record))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
