//go:build !race

package direct

// apart is whether no memory is ever shared.
const apart = false
