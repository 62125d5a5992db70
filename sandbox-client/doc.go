// Package client is the contract of lnk sandbox for programs that use it.
package client
