package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/machine"
)

// settings is the folder that no test may write in a real home folder.
const settings = ".lnk"

// settle is how long processes that are ending get to end.
const settle = 3 * time.Second

// traces are the places where tests may leave things, as they were.
type traces struct {
	netns    []string
	settings bool // our own user's settings folder is there
	ordinary []string
}

func (r *Runner) lookAround() (traces, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return traces{}, err
	}
	return traces{netns: entries("/run/netns"), settings: exists(filepath.Join(home, settings))}, nil
}

// LeftBehind says what the tests have left: processes, which it ends; files;
// named network namespaces; settings in a real home folder. The user is the
// ordinary one they ran as, or nil.
func (r *Runner) LeftBehind(u *machine.User) ([]string, error) {
	var left []string
	uid := os.Getuid()
	if u != nil {
		uid = u.UID
	}
	processes, err := machine.Left(uid, r.folder)
	for end := time.Now().Add(settle); err == nil && len(processes) > 0 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		processes, err = machine.Left(uid, r.folder)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range processes {
		left = append(left, p.String())
		if err := p.Kill(); err != nil {
			left = append(left, fmt.Sprintf("%v: %v", p, err))
		}
	}
	for _, dir := range []string{r.tmp(), r.userTmp()} {
		for _, name := range entries(dir) {
			left = append(left, "file "+filepath.Join(dir, name))
		}
	}
	for _, name := range entries("/run/netns") {
		if !slices.Contains(r.before.netns, name) {
			left = append(left, "network namespace "+name)
		}
	}
	now, err := r.lookAround()
	if err != nil {
		return nil, err
	}
	if now.settings && !r.before.settings {
		left = append(left, "~/"+settings+" of our own user")
	}
	if u != nil {
		for _, trace := range tracesOf(u) {
			if !slices.Contains(r.before.ordinary, trace) {
				left = append(left, trace)
			}
		}
	}
	return left, nil
}

// tracesOf gives what the ordinary user has where tests may leave things.
func tracesOf(u *machine.User) []string {
	var traces []string
	if exists(filepath.Join(u.Home, settings)) {
		traces = append(traces, "~/"+settings+" of "+u.Name)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		traces = append(traces, ownedIn(dir, u.UID)...)
	}
	return traces
}

// ownedIn gives what is a user's in a folder.
func ownedIn(dir string, uid int) []string {
	var owned []string
	for _, name := range entries(dir) {
		var stat syscall.Stat_t
		name = filepath.Join(dir, name)
		if syscall.Lstat(name, &stat) == nil && int(stat.Uid) == uid {
			owned = append(owned, "file "+name)
		}
	}
	return owned
}

// entries gives the names in a folder; one that is not there has none.
func entries(dir string) []string {
	var names []string
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
