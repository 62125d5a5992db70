// Package inside TODO.
package inside
