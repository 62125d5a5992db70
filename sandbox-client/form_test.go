package client

import (
	"bytes"
	"strings"
	"testing"
)

func TestWrapRequestRoundTrip(t *testing.T) {
	in := `{"confinement":{"name":"web","write":["/w"],"write_dot_files":["/w/.git"],"read":[],"commands":{"only":["/usr/bin/git"]},"net":{"proxied":{"proxy":{"upstream":"direct","dir":"/d","hosts":[],"listen":0,"routes":[{"name":"gh","tool":{"argv":["/usr/bin/gh"],"ask":"all","allow":[]}},{"name":"x","secret":{"host":"h.example","header":"A","value":"v","placeholder":"p"}}]},"ports":[1]}}},"argv":["true"]}` + "\n"
	req, err := ReadWrapRequest(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteWrapRequest(&out, req); err != nil {
		t.Fatal(err)
	}
	if out.String() != in {
		t.Errorf("wrote\n%s", out.String())
	}
}
