package routes

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// Hosts gives the host:port that each route goes to, where it goes to a host:
// what the judge is told as its routes ([judge.Rules]).
func Hosts(all []route.Route) []string {
	var hosts []string
	for _, r := range all {
		if host, _ := hostOf(r); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// HostMember says where among the routes the nth of [Hosts] was named, as the
// tokens of a JSON pointer: 1/secret/host.
func HostMember(all []route.Route, n int) string {
	for i, r := range all {
		host, member := hostOf(r)
		if host == "" {
			continue
		}
		if n == 0 {
			return strconv.Itoa(i) + "/" + member
		}
		n--
	}
	return ""
}

// hostOf gives where a route goes, host:port, and the member that says so; empty
// where it goes to no host.
func hostOf(r route.Route) (host, member string) {
	switch k := r.Kind.(type) {
	case route.Secret:
		return hostPort(k.Host, "443"), "secret/host"
	case route.LocalModel:
		return "localhost:" + strconv.Itoa(int(k.Port)), "local_model/port"
	case route.Model:
		if u, err := url.Parse(k.Upstream); err == nil {
			port := "443"
			if u.Scheme == "http" {
				port = "80"
			}
			return hostPort(u.Host, port), "model/upstream"
		}
	}
	return "", ""
}

// hostPort adds the port that is meant where a host comes without one.
func hostPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return host // an address that needs brackets: the judge says so
	}
	return host + ":" + port
}
