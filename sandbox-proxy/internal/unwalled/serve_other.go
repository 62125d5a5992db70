//go:build !linux

package main

import "errors"

func serve(at, relayed, sockets, opens string) error { return errors.ErrUnsupported }
