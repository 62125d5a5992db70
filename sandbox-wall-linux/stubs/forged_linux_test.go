package stubs

import (
	"os"
	"testing"
)

// A record that does not say in which folder its stub is was not written by a
// run: what stands at its path is somebody's, and stays as it is.
func TestRecordWithoutFolder(t *testing.T) {
	top := t.TempDir()
	store := top + "/store"
	if err := os.Mkdir(store, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/empty", "/full"} {
		if err := os.Mkdir(top+dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(top+dir, 0o755|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(top+"/full/x", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	text := `{"path":"` + top + `/empty"}` + "\n" + `{"path":"` + top + `/full","in":{"Dev":0,"Ino":0}}` + "\n"
	for _, name := range []string{"a.run", "b.run"} {
		if err := os.WriteFile(store+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		text = text[len(`{"path":"`+top+`/empty"}`)+1:]
	}
	report, err := NewStore(store).Sweep()
	if err != nil || len(report.Removed)+len(report.Taken) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	for _, dir := range []string{"/empty", "/full"} {
		if info, err := os.Lstat(top + dir); err != nil || info.Mode()&os.ModeSticky == 0 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}
