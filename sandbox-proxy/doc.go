// Package proxy TODO.
package proxy
