//go:build !linux

package probes

var elsewhere = Result{Untried: true, Detail: "cannot be tried on this system"}

// Executed is called first by a program that makes attempts.
func Executed() {}

func execute(bool) Result { return elsewhere }

func askKernel(string) Result { return elsewhere }
