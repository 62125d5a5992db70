// Package route TODO.
package route
