package tool

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// A reaper is a process beside the proxy that ends what tools have started,
// should the proxy be killed before it can: the kernel ends the tool itself
// then (PR_SET_PDEATHSIG), and not what that has started. It is a shell that
// reads the groups that run from a pipe, whose other end is the proxy's alone;
// it starts with the first call.
type reaper struct {
	mu     sync.Mutex
	cmd    *exec.Cmd
	told   *os.File
	closed bool
}

// reaperScript keeps the list; a group whose leader is not yet waited for
// cannot be another's, and is taken off the list before that.
const reaperScript = `g=
while read -r op n; do
	if [ "$op" = + ]; then g="$g $n"; continue; fi
	k=
	for x in $g; do [ "$x" = "$n" ] || k="$k $x"; done
	g=$k
done
for x in $g; do kill -s KILL -- "-$x"; done`

func (r *reaper) add(group int)  { r.tell("+", group) }
func (r *reaper) drop(group int) { r.tell("-", group) }

func (r *reaper) tell(op string, group int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.cmd == nil && !r.start() {
		return
	}
	fmt.Fprintf(r.told, "%s %d\n", op, group)
}

// start starts it, in a session of its own that no terminal's signal reaches.
func (r *reaper) start() bool {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return false
	}
	defer theirs.Close()
	cmd := exec.Command("/bin/sh", "-c", reaperScript)
	cmd.Stdin, cmd.Dir, cmd.Env = theirs, "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		ours.Close()
		return false
	}
	r.cmd, r.told = cmd, ours
	return true
}

// close ends it: the list is empty by then.
func (r *reaper) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.cmd != nil {
		r.told.Close()
		r.cmd.Wait()
	}
}
