package inside

import "golang.org/x/sys/unix"

// bringUp refuses a namespace that is not a new one and brings this one up. It
// says whether there is IPv6.
func bringUp(in source) (ipv6 bool, err error) {
	k, err := in.netlink(unix.NETLINK_ROUTE)
	if err != nil {
		return false, failed(StepLinks, "open rtnetlink", err)
	}
	defer k.close()
	there := dump{kind: rtmNewLink, head: ifInfo}
	if err := k.list(listLinks(), &there); err != nil {
		return false, failed(StepNamespace, "list the interfaces", err)
	}
	if err := fresh(there.got); err != nil {
		return false, err
	}
	got := answers{of: linkRequests()}
	if err := k.exchange(marshal(got.of), got.read, &got.done); err != nil {
		return false, failed(StepLinks, "set up loopback", err)
	}
	return linksDone(got)
}
