//go:build race

package direct

// apart is whether no memory is ever shared: the race detector, which is called
// where assembly calls Go, would take the clone for the thread that made it.
const apart = true
