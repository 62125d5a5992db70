package wires

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

const (
	// lookTime is how often flags are looked at where they cannot be watched.
	lookTime = 50 * time.Millisecond
	// againTime is how often they are looked at all the same: a folder above
	// them that was moved away tells nobody, nor does another machine's write.
	againTime = time.Second
	// lookedAt is how long they are looked at alone, before they are watched. To
	// close a watch takes the kernel milliseconds where another was closed just
	// before, as the wall's is (fsnotify_wait_marks_destroyed in fs/notify/mark.c
	// waits for a grace period), and the end of a short program would wait too.
	lookedAt = 4 * lookTime
	// settles bounds how often the folders are looked for until two looks
	// agree: one can be made between being looked for and being watched.
	settles = 8
)

// A Watcher tells of changes until it is closed.
type Watcher struct {
	folders []string // that hold flags
	changed func()
	done    chan struct{}
	once    sync.Once
	ended   sync.WaitGroup
}

// Watch calls changed, one call at a time, when the flags may have changed, and
// once at first. It creates nothing.
func Watch(s client.SettingsFolder, changed func()) *Watcher {
	w := &Watcher{
		folders: []string{filepath.Dir(s.Stopped()), s.PausedFolder()},
		changed: changed, done: make(chan struct{}),
	}
	w.ended.Go(w.run)
	return w
}

// Close ends it: changed is not called once Close has returned.
func (w *Watcher) Close() {
	w.once.Do(func() { close(w.done) })
	w.ended.Wait()
}

func (w *Watcher) run() {
	var events chan fsnotify.Event
	var errs chan error
	var system *fsnotify.Watcher
	for looks := time.Duration(0); ; looks++ {
		if looks*lookTime == lookedAt {
			if s, err := fsnotify.NewWatcher(); err == nil {
				defer s.Close()
				system, events, errs = s, s.Events, s.Errors
			}
		}
		wait := lookTime
		if system != nil && w.arm(system) {
			wait = againTime
		}
		w.changed()
		timer := time.NewTimer(wait)
		select {
		case <-w.done:
			timer.Stop()
			return
		case <-timer.C:
		case _, ok := <-events:
			if !ok {
				events = nil
			}
		case _, ok := <-errs: // too many at once, among others: look
			if !ok {
				errs = nil
			}
		}
		timer.Stop()
	}
}

// arm watches each folder that holds flags, or what is nearest above it while
// it is not there. It is false where that cannot be done.
func (w *Watcher) arm(system *fsnotify.Watcher) bool {
	for range settles {
		near := w.nearest()
		for _, folder := range near {
			if folder == "" || system.Add(folder) != nil {
				return false
			}
		}
		if slices.Equal(near, w.nearest()) {
			for _, old := range system.WatchList() {
				if !slices.Contains(near, old) {
					system.Remove(old)
				}
			}
			return true
		}
	}
	return false
}

// nearest gives for each folder itself or the folder above it that is there,
// or "" where that cannot be told.
func (w *Watcher) nearest() []string {
	var near []string
	for _, folder := range w.folders {
		for {
			_, err := os.Stat(folder)
			if err == nil {
				break
			}
			above := filepath.Dir(folder)
			if !os.IsNotExist(err) || above == folder {
				folder = ""
				break
			}
			folder = above
		}
		near = append(near, folder)
	}
	return near
}
