//go:build !linux

package machine

func landlock() int { return 0 }
