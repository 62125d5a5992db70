package client_test

import (
	"bytes"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// People and shells write a slash behind a folder. It is read as without, and
// nothing else that is not clean is.
func TestSlashAtTheEnd(t *testing.T) {
	request := `{"confinement":{"name":"a","write":["/p/q/"],"write_dot_files":["/p/q/"],"read":["/r//","/"],"hide":["/h/"],"commands":{"only":["/usr/bin/"]},"net":"closed"},"argv":["true"]}`
	r, err := client.ReadWrapRequest(strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := client.WriteWrapRequest(&got, r); err != nil {
		t.Fatal(err)
	}
	want := `{"confinement":{"name":"a","write":["/p/q"],"write_dot_files":["/p/q"],"read":["/r","/"],"hide":["/h"],"commands":{"only":["/usr/bin"]},"net":"closed"},"argv":["true"]}` + "\n"
	if got.String() != want {
		t.Errorf("got  %s\nwant %s", got.String(), want)
	}
	for _, path := range []string{"/p/../q", "/p/./q", "/p//q", "p/", "", "/p/../q/"} {
		bad := strings.Replace(request, `"/r//"`, `"`+path+`"`, 1)
		if _, err := client.ReadWrapRequest(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "/confinement/read/0") {
			t.Errorf("%q: %v", path, err)
		}
	}
}
