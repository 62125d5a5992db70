//go:build linux && !cgo

package inside

// withCgo: the runtime can reach every thread.
const withCgo = false
