package client

import (
	"math"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// SpecLimits are what the program and all its children may use together. What
// is left out is not limited. A confinement has no member for them: lnk sandbox
// run takes them from the spec and hands them on beside it.
type SpecLimits struct {
	_ [0]func()

	// Memory is in bytes, with K, M, G or T behind it for powers of 1024, and
	// at least 16M.
	Memory string `json:"memory,omitempty" toml:"memory,omitempty"`
	// Processes counts processes and threads, 1 or more; nil is no limit.
	Processes *int `json:"processes,omitzero" toml:"processes,omitempty"`
	// CPU is in percent of one processor: "200%" is two.
	CPU string `json:"cpu,omitempty" toml:"cpu,omitempty"`
	// Tmp is the size of each temporary file system, as Memory is written; at
	// least 64K.
	Tmp string `json:"tmp,omitempty" toml:"tmp,omitempty"`
}

// Limits are the limits of a [SpecLimits], read; 0 is no limit.
type Limits struct {
	_ [0]func()

	// Memory and Tmp are in bytes.
	Memory, Tmp int64
	// Processes counts processes and threads.
	Processes int
	// CPU is in percent of one processor.
	CPU int
}

// Bounds of limits: below them not even what starts the program would run.
const (
	minMemory    = 16 << 20
	minTmp       = 64 << 10
	maxProcesses = 1 << 22 // PID_MAX_LIMIT of the kernel
	maxCPU       = 1_000_000
)

// Any says whether anything is limited.
func (l Limits) Any() bool { return l.Memory != 0 || l.Tmp != 0 || l.Processes != 0 || l.CPU != 0 }

// Limits reads the limits. What it refuses is a [*SpecError].
func (l SpecLimits) Limits() (Limits, error) {
	read, err := l.read()
	return read, specError(form.At("limits", err))
}

func (l SpecLimits) check() error {
	_, err := l.read()
	return err
}

func (l SpecLimits) read() (out Limits, err error) {
	var memory, processes, cpu, tmp error
	out.Memory, memory = bytesOf(l.Memory, minMemory, "16M")
	out.CPU, cpu = percentOf(l.CPU)
	out.Tmp, tmp = bytesOf(l.Tmp, minTmp, "64K")
	if l.Processes != nil {
		if out.Processes = *l.Processes; out.Processes < 1 || out.Processes > maxProcesses {
			processes = form.Refuse(strconv.Itoa(out.Processes) + ": want 1 to " + strconv.Itoa(maxProcesses))
		}
	}
	return out, form.First(form.At("memory", memory), form.At("processes", processes), form.At("cpu", cpu), form.At("tmp", tmp))
}

// bytesOf reads a size; "" is 0.
func bytesOf(s string, least int64, leastSays string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	digits, unit := s, int64(1)
	if i := strings.IndexByte("KMGT", s[len(s)-1]); i >= 0 {
		digits, unit = s[:len(s)-1], 1<<(10*(i+1))
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strings.Trim(digits, "0123456789") != "" || n > math.MaxInt64/unit {
		return 0, form.Refuse(form.Quote(s) + `: want a size, as 512M or 4G`)
	}
	if n *= unit; n < least {
		return 0, form.Refuse(form.Quote(s) + ": want " + leastSays + " or more")
	}
	return n, nil
}

// percentOf reads a share of processors; "" is 0.
func percentOf(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	digits, percent := strings.CutSuffix(s, "%")
	n, err := strconv.Atoi(digits)
	if !percent || err != nil || strings.Trim(digits, "0123456789") != "" || n < 1 || n > maxCPU {
		return 0, form.Refuse(form.Quote(s) + `: want a share of processors, as 50% or 200%`)
	}
	return n, nil
}

func specLimitsShape(l *SpecLimits) form.Shape {
	processes := func(p *int) form.Shape { return form.Whole(p, 1, maxProcesses) }
	return form.Object(
		form.Optional("memory", form.String(&l.Memory)),
		form.Optional("processes", form.New(&l.Processes, processes)),
		form.Optional("cpu", form.String(&l.CPU)),
		form.Optional("tmp", form.String(&l.Tmp)),
	)
}
