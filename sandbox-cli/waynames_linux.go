package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/names"
)

// names is the judge's word on a name that was asked for. A program that does
// not know of the proxy shows a refusal as a name that is not there, so the
// person who runs it is told here.
func (w *way) names(name string) bool {
	d := w.judge.Name(name)
	if !d.Allowed {
		w.owner.noName(d)
		if named := w.judge.Name(servedBy(name)); !named.Allowed {
			w.told.tell(named.Host, named.Detail, anyPort(named))
		}
	}
	return d.Allowed
}

// anyPort is what would open a name: at which port it will be called is not known
// when it is asked for, and a database's or ssh's is opened by a rule of its own.
func anyPort(d judge.Decision) judge.Open {
	if d.Reason == judge.Host && d.Open.Flag != "" {
		d.Open.Flag += ", or --tcp " + d.Host + ":<port> for what is neither http nor https"
	}
	return d.Open
}

// withoutAddress are services whose programs take the hosts that they call from
// records of SRV or URI and know no other way, and what to say to each in place
// of a name.
var withoutAddress = map[string]string{
	"_mongodb._tcp":     "give it an address that begins with mongodb:// and names each server, and --tcp <server>:27017 for each",
	"_ldap._tcp":        "give it a server's own name, and --tcp <server>:389",
	"_ldaps._tcp":       "give it a server's own name, and --tcp <server>:636",
	"_kerberos._tcp":    "name the servers in krb5.conf, and --tcp <server>:88 for each",
	"_kerberos._udp":    "name the servers in krb5.conf as tcp/<server>, and --tcp <server>:88 for each",
	"_etcd-client._tcp": "give it the servers' own names, and --tcp <server>:2379 for each",
}

// records is the judge's word on a name of which a kind of record is asked that
// no name has here. What would open the host opens no such record, so that the
// person is told what to do without, but for services whose programs go on to
// ask for the host's address: those are of [servedBy].
func (w *way) records(name, kind string) bool {
	d := w.judge.Name(name)
	instead, known := withoutAddress[service(name)]
	if !known && strings.HasPrefix(name, "_") {
		return w.names(name)
	}
	if d.Reason == judge.Malformed || d.Reason == judge.NoInternet {
		return w.names(name)
	}
	lacks := d
	lacks.Allowed, lacks.Reason, lacks.Open = false, judge.Unresolved, judge.Open{}
	lacks.Detail = "names have addresses in a sandbox, and no " + kind
	if known {
		lacks.Detail += ": " + instead
	}
	w.owner.noName(lacks)
	w.told.tell(kind+" of "+d.Host, lacks.Detail, judge.Open{})
	return d.Allowed
}

// service is what a service's name begins with: its own name and its protocol's
// (RFC 2782).
func service(name string) string {
	first, rest, _ := strings.Cut(name, ".")
	second, _, _ := strings.Cut(rest, ".")
	return first + "." + second
}

// full tells that a name got no address. It is the same for all that follow.
func (w *way) full(string) {
	w.told.tell("more names", fmt.Sprintf("%d were asked for within an hour, and each has an address of its own; by its proxy variables a program needs none", names.MaxNames), judge.Open{})
}

// servedBy is the host of a service's name (RFC 8552: its first labels begin
// with an underscore), as apt, gpg and others ask for before they call the host.
// No such name has an address: what there is to open, if anything, is the host.
func servedBy(name string) string {
	host := name
	for strings.HasPrefix(host, "_") {
		_, host, _ = strings.Cut(host, ".")
	}
	return cmp.Or(host, name)
}
