//go:build unix && !linux

package tunnel

import "syscall"

// held is a way's pipe: there is none where the system has no splice.
type held struct{}

func (held) getPipe() bool { return false }

func (held) putPipe(bool) {}

func (held) fill(uintptr) (int, error) { return 0, syscall.EINVAL }

func (held) empty(uintptr, int) (int, error) { return 0, syscall.EINVAL }
