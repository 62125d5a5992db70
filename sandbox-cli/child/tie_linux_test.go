package child

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestOnlyTheFirstThreadIsLetGo ends a goroutine that was tied to another one
// and is said to be free: a thread that ends with it was not let go.
func TestOnlyTheFirstThreadIsLetGo(t *testing.T) {
	thread := make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that what is started is on another thread
		if unix.Gettid() == unix.Getpid() {
			go tied(thread)
			select {} // the first one is kept busy
		}
		tied(thread)
	}()
	tid := <-thread
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid)); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the thread goes on, so that it was let go")
		}
	}
}

func tied(thread chan<- int) {
	free := Tie()
	free()
	thread <- unix.Gettid()
}
