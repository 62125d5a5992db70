// Package measure TODO.
package measure
