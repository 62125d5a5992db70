package client_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// Who writes no Go copies the request that the README shows.
func TestReadmeRequestIsOne(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks of JSON, want one", len(blocks))
	}
	shown := string(blocks[0][1])
	if _, err := client.ReadWrapRequest(strings.NewReader(shown)); err != nil {
		t.Errorf("the request of the README is refused: %v", err)
	}
	// What stands there is needed, as the text says of ports.
	_, err = client.ReadWrapRequest(strings.NewReader(strings.Replace(shown, "},\n        \"ports\": []", "}", 1)))
	if err == nil || err.Error() != "/confinement/net/proxied/ports: missing" {
		t.Errorf("without ports: %v", err)
	}
}
