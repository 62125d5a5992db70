package carry

import (
	"net/url"
	"testing"
)

func TestBaseOf(t *testing.T) {
	for upstream, want := range map[string]string{
		"https://api.openai.com":          "/v1",
		"https://api.openai.com/":         "/v1",
		"https://API.openai.com/v1/":      "/v1",
		"https://api.deepseek.com/":       "",
		"https://api.anthropic.com":       "",
		"https://gateway.example/a%2Fb/c": "/a%2Fb/c",
	} {
		at, err := url.Parse(upstream)
		if err != nil {
			t.Fatal(err)
		}
		if got := baseOf(at); got != want {
			t.Errorf("%s: %q, want %q", upstream, got, want)
		}
	}
}
