//go:build !linux

package cli

func hearInterrupts(bool) {}

func interruptedToo(int) {}
