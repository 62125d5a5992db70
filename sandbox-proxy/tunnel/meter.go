package tunnel

import "sync/atomic"

// A Meter counts bytes as they are delivered: up from the program, down to it.
// The zero Meter counts.
type Meter struct {
	up, down atomic.Uint64
	parent   *Meter
}

// NewMeter gives a meter whose counts are counted by parent too.
func NewMeter(parent *Meter) *Meter { return &Meter{parent: parent} }

// Up and Down are the bytes so far.
func (m *Meter) Up() uint64 { return m.up.Load() }

// Down are the bytes that reached the program so far.
func (m *Meter) Down() uint64 { return m.down.Load() }

// Add counts bytes that were carried by other means than a tunnel.
func (m *Meter) Add(up, down int) {
	m.addUp(up)
	m.addDown(down)
}

func (m *Meter) addUp(n int) {
	for ; m != nil && n > 0; m = m.parent {
		m.up.Add(uint64(n))
	}
}

func (m *Meter) addDown(n int) {
	for ; m != nil && n > 0; m = m.parent {
		m.down.Add(uint64(n))
	}
}
