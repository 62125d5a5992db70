package written

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Starts at the same time lose none of each other's folders.
func TestKeepTogether(t *testing.T) {
	dir := t.TempDir() + "/sandbox"
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if err := Keep(dir, nil, []string{fmt.Sprintf("/w%d", i), "/all"}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	all, err := Load(dir)
	if err != nil || len(all) != 21 {
		t.Fatalf("%d folders, %v", len(all), err)
	}
	if err := Keep(dir, all, []string{"/all/sub", "/w3"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir + "/" + Name)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// What cannot be written down or read is an error: the program would be
// forgotten.
func TestKeepFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/"+Name, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Keep(dir, nil, []string{"/w"}); err == nil {
		t.Error("a record that cannot be read was taken for an empty one")
	}
	if err := os.Remove(dir + "/" + Name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", dir+"/"+Name); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil {
		t.Error("a link was followed")
	}
	if err := Keep("/proc/none", nil, []string{"/w"}); err == nil {
		t.Error("it was kept where nothing can be")
	}
}

func TestForgetsWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	var many []string
	for i := range maxKept {
		many = append(many, fmt.Sprintf("/no/such/%d", i))
	}
	if err := Keep(dir, nil, many); err != nil {
		t.Fatal(err)
	}
	if err := Keep(dir, nil, []string{dir}); err != nil {
		t.Fatal(err)
	}
	all, err := Load(dir)
	if err != nil || len(all) != 1 || all[0].Path != dir {
		t.Errorf("%d folders, %v", len(all), err)
	}
}
