package cli

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/procs"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/names"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/wires"
)

// A way is all that serves one sandbox's network: the proxy, its name server,
// and the addresses that names have inside.
type way struct {
	proxy     *proxy.Proxy
	judge     *judge.Judge
	pool      *names.Pool
	told      *teller
	owner     *owner
	learned   *learner
	listeners *inside.Listeners
	unnamed   sync.WaitGroup
	table     *routes.Table
	inward    inward
	tools     *toolbox
	ended     sync.Once
}

// newWay makes it. A secret that is not empty is what every call of the proxy's
// listeners needs.
func newWay(f proxyFlags, told *teller, secret string) (*way, error) {
	upstream, err := f.upstream()
	if err != nil {
		return nil, err
	}
	up, err := upstreamOf(upstream, hostProxies)
	if err != nil {
		return nil, err
	}
	j, err := f.judge(judge.Machine())
	if err != nil {
		return nil, err
	}
	w := &way{judge: j, pool: names.NewPool(time.Now), told: told, owner: newOwner(f.Settings, cmp.Or(f.Wire, f.Name), told.say)}
	var learned func(proxy.Learned)
	if f.Learn {
		w.learned = new(learner)
		learned = w.learned.note
	}
	p, err := proxy.New(proxy.Config{
		Name:    w.pool.Name, // some programs look a name up and then ask for what they found
		Sandbox: f.Name, Judge: j, Upstream: up, PerMinute: f.PerMinute, Local: w.local(f), Wire: wires.Of(w.owner.settings, w.owner.sandbox), Secret: secret,
		Ended: func(r proxy.Record) {
			w.owner.log.Record(r)
			told.ended(r)
		},
		Learned: learned,
		Refused: func(r proxy.Refusal) { told.refused(r, cmp.Or(f.Wire, f.Name)) },
	})
	if err != nil {
		return nil, err
	}
	w.proxy = p
	if w.tools, err = newToolbox(f, told); err == nil {
		w.table, err = routes.New(p, f.mounts, w.tools.kinds(routeKinds()))
	}
	if err != nil {
		w.tools.Close()
		p.Close()
		return nil, err
	}
	w.owner.follow(p, w.table)
	return w, nil
}

// local answers what is asked of the proxy itself: where there are routes, they
// do.
func (w *way) local(f proxyFlags) http.Handler {
	if len(f.mounts.Routes) == 0 {
		return nil
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.table.ServeHTTP(rw, r) })
}

// maxNamePorts is how many ports of names are told apart: each takes two rules,
// which the first packet of every connection passes.
const maxNamePorts = 16

// carried are the destinations that a connection of the program's can have: the
// addresses that stand for names, at the ports that any name is opened at, and
// those that rules name as such. Any other is refused by the kernel before it is
// made. Nil is every one.
func (w *way) carried() []inside.Destination {
	open := w.judge.Reach()
	ports := open.Names
	if len(ports) > maxNamePorts {
		ports = []uint16{0} // every one
	}
	var to []inside.Destination
	for _, port := range ports {
		to = append(to, inside.Destination{Block: names.Block4, Port: port}, inside.Destination{Block: names.Block6, Port: port})
	}
	for _, a := range open.Literals {
		to = append(to, inside.Destination{Block: netip.PrefixFrom(a.Addr(), a.Addr().BitLen()), Port: a.Port()})
	}
	if open.All || len(to) > inside.MaxTo {
		return nil
	}
	if to == nil {
		return inside.Nowhere
	}
	return to
}

// fitted is whether this process takes as many threads as it needs.
var fitted sync.Once

// fitAfter is how long a proxy serves before it does: a start, and the end of a
// program that is as short, have work for two threads.
const fitAfter = 200 * time.Millisecond

// serveProxy begins to serve a listener of the proxy's. From then on the process
// moves bytes.
func (w *way) serveProxy(l net.Listener) {
	fitted.Do(func() {
		time.AfterFunc(fitAfter, func() { _ = procs.Fit() }) // where the kernel has no such timers it is as fast as it was
	})
	go w.proxy.Serve(l)
}

// nameServer answers the program's questions for names.
func (w *way) nameServer(ipv6 bool) *names.Server {
	return &names.Server{
		Allowed:  w.names,
		Records:  w.records,
		Above:    w.judge.Above,
		Full:     w.full,
		Pool:     w.pool,
		Hostname: hostname,
		IPv6:     ipv6,
	}
}

// serve begins to serve what was handed out of the namespace. A listener ends
// when the way is closed.
func (w *way) serve(l *inside.Listeners) {
	w.listeners = l
	server := w.nameServer(l.IPv6)
	for _, listener := range l.Proxy {
		w.serveProxy(listener)
	}
	for _, listener := range l.Transparent {
		go w.proxy.ServeTransparent(listener, inside.OriginalDst, w.pool.Name)
	}
	if l.Unnamed != nil {
		w.unnamed.Go(func() {
			w.proxy.TellUnnamed(func() (netip.AddrPort, bool, error) {
				meant, err := l.Unnamed.Next()
				return meant.To, meant.Over == inside.UDP, err
			})
		})
	}
	for _, packets := range l.DNSPackets {
		go server.ServeUDP(packets)
	}
	for _, listener := range l.DNSStreams {
		go server.ServeTCP(listener)
	}
	for port, listeners := range l.Ports {
		for _, listener := range listeners {
			go func(l net.Listener) { w.proxy.ServePort(l, port) }(listener)
		}
	}
}

// end closes all, says in the log how its program ended, and tells what was
// held back.
func (w *way) end(status int) {
	if l := w.listeners; l != nil && l.Unnamed != nil {
		l.Unnamed.End() // its last calls are told too
		w.unnamed.Wait()
	}
	w.proxy.Close() // so that the calls it ends stand before its end in the log
	w.ended.Do(func() { w.owner.log.Ended(status) })
	w.Close()
	w.told.end()
	if w.learned != nil {
		w.learned.print(w.told.w)
	}
}

// Close ends every call and every listener. Where no program has ended before,
// none was started, which the log says.
func (w *way) Close() {
	w.tools.Close()
	w.proxy.Close()
	w.ended.Do(w.owner.log.NotStarted)
	w.table.Close()
	w.owner.close()
	if w.listeners != nil {
		w.listeners.Close()
	}
	w.inward.close()
}
