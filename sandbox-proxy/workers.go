package proxy

import "net"

// A job is a connection and who serves it.
type job struct {
	serve func(net.Conn)
	conn  net.Conn
}

// serveConn serves a connection by a goroutine that has served others and waits for
// the next, or by a new one. One that has is faster: its stack is as large as
// it needs to be.
func (p *Proxy) serveConn(j job) {
	select {
	case p.jobs <- j:
	default:
		p.work.Add(1) // the listener has one: Close does not run out of them between
		go p.serveConns(j)
	}
}

// serveConns serves a connection, and others after it while fewer than
// keptWorkers wait for one.
func (p *Proxy) serveConns(j job) {
	defer p.work.Done()
	for {
		j.serve(j.conn)
		j = job{}
		if p.workers.Add(1) > keptWorkers {
			p.workers.Add(-1)
			return
		}
		select {
		case j = <-p.jobs:
			p.workers.Add(-1)
		case <-p.ctx.Done():
			p.workers.Add(-1)
			return
		}
	}
}
