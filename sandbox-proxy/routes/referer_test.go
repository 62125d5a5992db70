package routes_test

import (
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
)

// The far side of a route is told of its own addresses, and never the secret
// that is in the program's.
func TestReferer(t *testing.T) {
	const at, base = "http://127.0.0.1:7", "https://api.example/v1"
	for from, want := range map[string]string{
		at + "/abcdefgh12345678/secret/api/x%2Fy?q=1":     base + "/x%2Fy?q=1",
		at + "/abcdefgh12345678/secret/api":               base,
		at + "/abcdefgh12345678/secret/api2/x":            "",
		at + "/abcdefgh12345678/model/x":                  "",
		at + "/%61bcdefgh12345678/model/x":                "",
		at + "/x?abcdefgh12345678":                        "",
		"https://elsewhere.test/page?q":                   "https://elsewhere.test/page?q",
		"http://[":                                        "",
		"/abcdefgh12345678/secret/api/x?abcdefgh12345678": "",
		"": "",
	} {
		if got := routes.Referer(from, "/abcdefgh12345678/secret/api", base); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
	for from, want := range map[string]string{at + "/tool/gh/x": base + "/x", at + "/tool/gx": at + "/tool/gx"} {
		if got := routes.Referer(from, "/tool/gh", base); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}
