package stages

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A run whose watch is killed ends, but not one that is ending already: what it
// takes away would stay.
func TestWatchIsKilled(t *testing.T) {
	told := make(chan os.Signal, 2)
	signal.Notify(told, syscall.SIGTERM)
	defer signal.Stop(told)
	for _, ending := range []bool{false, true} {
		w, err := newWatch()
		if err != nil {
			t.Fatal(err)
		}
		if ending {
			w.unneeded()
		}
		w.Kill()
		<-w.ended
		patience := time.Minute
		if ending {
			patience = 100 * time.Millisecond // in which the other way takes none
		}
		select {
		case <-told:
			if ending {
				t.Error("a run that is ending was cut off")
			}
		case <-time.After(patience):
			if !ending {
				t.Error("a run goes on without its watch")
			}
		}
		if w.there() == nil {
			t.Error("it is said to be there")
		}
		w.unneeded()
		w.Close()
	}
}
