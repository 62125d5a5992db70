package inside

import (
	"time"

	"golang.org/x/sys/unix"
)

// links are a namespace's interface and addresses, as it was brought up.
type links struct {
	k    kernel
	ipv6 bool // there is IPv6
}

func (l links) close() { l.k.close() }

// bringUp refuses a namespace that is not a new one and brings this one up.
func bringUp(in source) (l links, err error) {
	k, err := in.netlink(unix.NETLINK_ROUTE)
	if err != nil {
		return links{}, failed(StepLinks, "open rtnetlink", err)
	}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	there := dump{kind: rtmNewLink, head: ifInfo}
	if err := k.list(listLinks(), &there); err != nil {
		return links{}, failed(StepNamespace, "list the interfaces", err)
	}
	if err := fresh(there.got); err != nil {
		return links{}, err
	}
	got := answers{of: linkRequests()}
	if err := k.exchange(marshal(got.of), got.read, &got.done); err != nil {
		return links{}, failed(StepLinks, "set up loopback", err)
	}
	ipv6, err := linksDone(got)
	return links{k, ipv6}, err
}

// addressTime bounds the wait for the address of IPv6.
const addressTime = time.Second

// wait waits until the address of IPv6 is one: the kernel gives it its route on a
// queue of work (addrconf_dad_work in net/ipv6/addrconf.c), a moment or, on a
// busy machine, tenths of a second behind its answer. Until then a first
// connection fails with ENETUNREACH, or has no answer and is tried again after a
// second.
func (l links) wait() error {
	if !l.ipv6 {
		return nil
	}
	pause := 100 * time.Microsecond
	for deadline := time.Now().Add(addressTime); ; pause = min(2*pause, 10*time.Millisecond) {
		var way way
		if err := l.k.exchange(routeTo(Own6), way.read, &way.done); err != nil {
			return failed(StepLinks, "ask for the route to "+Own6.String(), err)
		}
		if way.table == rtTableLocal || time.Now().After(deadline) {
			return nil
		}
		time.Sleep(pause)
	}
}
