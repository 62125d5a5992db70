//go:build linux && cgo

package inside

// withCgo: the runtime cannot reach every thread.
const withCgo = true
