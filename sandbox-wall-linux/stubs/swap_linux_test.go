package stubs

import (
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// impostor puts something else where a folder stood: a link to, or a folder
// like, one in which the same names stand.
func impostor(t *testing.T, p *place, link bool) (moved, victim string) {
	t.Helper()
	moved, victim = p.top+"/moved", p.top+"/victim"
	if err := os.Rename(p.work, moved); err != nil {
		t.Fatal(err)
	}
	for _, w := range p.wants() {
		name := victim + w.Path[len(p.work):]
		if err := os.MkdirAll(victim, 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if w.File {
			err = os.WriteFile(name, []byte(w.Text), 0o644)
		} else {
			err = os.Mkdir(name, 0o755)
		}
		// Marked as ours are, so that only where they are tells.
		if err = errors.Join(err, os.Chmod(name, 0o755|os.ModeSticky)); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if link {
		err = os.Symlink(victim, p.work)
	} else {
		err = os.Rename(victim, p.work)
		victim = p.work
	}
	if err != nil {
		t.Fatal(err)
	}
	return moved, victim
}

func TestFolderSwappedBeforeHold(t *testing.T) {
	for _, link := range []bool{true, false} {
		p := newPlace(t)
		var st unix.Stat_t
		if err := unix.Stat(p.work, &st); err != nil {
			t.Fatal(err)
		}
		was := Node{st.Dev, st.Ino}
		_, victim := impostor(t, p, link)
		wants := p.wants()
		for i := range wants {
			wants[i].Path += "2" // what is not there yet
			if !link {
				wants[i].In = was // a link is refused whatever it leads to
			}
		}
		if _, err := p.store.Hold(wants); !errors.Is(err, ErrMoved) {
			t.Errorf("link=%v: %v", link, err)
		}
		if got := names(t, victim); len(got) != 3 {
			t.Errorf("link=%v: made in the victim: %v", link, got)
		}
		p.noRecords()
	}
}

// A folder further up that is a link is refused as well.
func TestLinkAbove(t *testing.T) {
	p := newPlace(t)
	if err := errors.Join(os.MkdirAll(p.top+"/real/sub", 0o755), os.Symlink(p.top+"/real", p.top+"/link")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Hold([]Want{{Path: p.top + "/link/sub/.git"}}); !errors.Is(err, ErrMoved) {
		t.Errorf("%v", err)
	}
	if got := names(t, p.top+"/real/sub"); len(got) > 0 {
		t.Errorf("made behind the link: %v", got)
	}
}

// The owner removes its stubs where they are, and nothing where they were.
func TestFolderSwappedBeforeRelease(t *testing.T) {
	for _, link := range []bool{true, false} {
		p := newPlace(t)
		h := p.hold()
		moved, victim := impostor(t, p, link)
		if r := release(t, h); len(r.Removed) != 3 {
			t.Errorf("link=%v: %+v", link, r)
		}
		if got := names(t, moved); len(got) > 0 {
			t.Errorf("link=%v: left in the moved folder: %v", link, got)
		}
		if got := names(t, victim); len(got) != 3 {
			t.Errorf("link=%v: removed from the victim, left %v", link, got)
		}
		p.noRecords()
	}
}

// A sweep, which has but the path, removes nothing where it leads elsewhere.
func TestFolderSwappedBeforeSweep(t *testing.T) {
	for _, link := range []bool{true, false} {
		p := newPlace(t)
		killed(t, p)
		_, victim := impostor(t, p, link)
		r, err := p.store.Sweep()
		if err != nil || len(r.Removed) > 0 || len(r.Lost) != 3 {
			t.Errorf("link=%v: %+v, %v", link, r, err)
		}
		if got := names(t, victim); len(got) != 3 {
			t.Errorf("link=%v: removed from the victim, left %v", link, got)
		}
		p.noRecords()
	}
}

// A file is moved aside before it is removed, so that what takes its name
// meanwhile is not. Content that shows only then goes back.
func TestFileGoesBackWhenItIsSomebodys(t *testing.T) {
	p := newPlace(t)
	e := entry{Path: p.work + "/note", File: true, Text: ".\n"}
	folder, _, err := openFolder(e.Path, Node{})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(folder)
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(p.work+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p.work+"/"+name, 0o644|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
	}
	put("note", "somebody's")
	if f := removeFile(folder, e); f != taken {
		t.Errorf("fate %d", f)
	}
	if text, _ := os.ReadFile(p.work + "/note"); string(text) != "somebody's" {
		t.Errorf("note: %q", text)
	}
	// What a run that was killed between the two steps left aside.
	os.Remove(p.work + "/note")
	put("note"+aside, ".\n")
	if f := remove(folder, e); f != removed {
		t.Errorf("aside: fate %d", f)
	}
	// And with the name taken again, by another run.
	put("note"+aside, ".\n")
	put("note", ".\n")
	if f := remove(folder, e); f != removed {
		t.Errorf("aside and there: fate %d", f)
	}
	if got := names(t, p.work); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
	// And by somebody.
	put("note"+aside, "somebody's")
	put("note", ".\n")
	if f := remove(folder, e); f == removed {
		t.Errorf("both: fate %d", f)
	}
	if got := names(t, p.work); !slices.Contains(got, "note"+aside) {
		t.Errorf("left: %v", got)
	}
}
