package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody writes to is not waited for without end.
func TestSpecOfNobody(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "spec.toml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readSpec(pipe, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), pipe+": is a pipe that nobody has written to its end in 1ms") {
		t.Errorf("%v", err)
	}
}

func TestSpecLies(t *testing.T) {
	for name, want := range map[string][2]string{
		"/a/b/spec.toml":      {"/a/b", "/a/b/spec.toml"},
		"/dev/fd/999999":      {"/cwd", ""},
		"/dev/null":           {"/cwd", ""},
		"/proc/self/../stdin": {"/cwd", ""},
		"/device/spec":        {"/device", "/device/spec"},
	} {
		folder, file, err := (&specFile{name: name}).lies("/cwd")
		if err != nil || folder != want[0] || file != want[1] {
			t.Errorf("%s: %s, %s, %v", name, folder, file, err)
		}
	}
}

// Of two specs the second would open what the first closes. What is in the other of
// the two forms is told as that.
func TestSpecsThatAreTold(t *testing.T) {
	var f specFile
	if err := f.Set("one.toml"); err != nil {
		t.Fatal(err)
	}
	if err := f.Set("two.toml"); err == nil || !strings.Contains(err.Error(), "one.toml was named before") || f.name != "one.toml" {
		t.Errorf("%v, %q", err, f.name)
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"a.json", "[files]\nwrite = []\n", "a spec of TOML is in a file"},
		{"b.json", "name = \"x\"\n", "a spec of TOML is in a file"},
		{"c.json", "// what it opens\n{}", "JSON has no comments"},
		{"d.json", "[]", "want an object"},
		{"e.JSON", "{\"name\": \"x\"}", ""},
		{"f.yaml", "files:\n  write: [x]\n", "line 1, column 6: not TOML"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readSpec(path, time.Second)
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
