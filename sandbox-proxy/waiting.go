package proxy

// await notes that a connection waits for a head. When too many do, the one
// that has waited longest is ended.
func (p *Proxy) await(g *gate) {
	if g.answering() {
		return // it does not wait: a download is under way
	}
	p.wait(g)
}

// wait notes that a connection is kept open for what may never come: it is false
// where that was noted already.
func (p *Proxy) wait(g *gate) (noted bool) {
	p.mu.Lock()
	if noted = g.waits == nil; noted {
		g.waits = p.waiting.PushBack(g)
	}
	var longest *gate
	if p.waiting.Len() > p.room.waiting {
		longest = p.waiting.Remove(p.waiting.Front()).(*gate)
		longest.waits = nil
	}
	p.mu.Unlock()
	if longest != nil {
		longest.Cut()
	}
	return noted
}

// arrived notes that it waits no more.
func (p *Proxy) arrived(g *gate) {
	p.mu.Lock()
	if g.waits != nil {
		p.waiting.Remove(g.waits)
		g.waits = nil
	}
	p.mu.Unlock()
}
