package wires_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/wires"
)

// What is over soon has no watch to close, which takes the kernel long.
func TestWatchComesLater(t *testing.T) {
	watches := func() (n int) {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range all {
			if at, _ := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); at == "anon_inode:inotify" {
				n++
			}
		}
		return n
	}
	had, looks := watches(), make(chan struct{}, 100)
	w := wires.Watch(client.SettingsFolder(t.TempDir()), func() { looks <- struct{}{} })
	defer w.Close()
	<-looks
	<-looks
	if n := watches() - had; n != 0 && len(looks) == 0 {
		t.Errorf("%d watches at the second look", n)
	}
	for deadline := time.Now().Add(patience); watches() == had; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is never watched")
		}
	}
}
