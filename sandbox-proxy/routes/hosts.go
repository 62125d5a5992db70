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
		switch k := r.Kind.(type) {
		case route.Secret:
			hosts = append(hosts, hostPort(k.Host, "443"))
		case route.LocalModel:
			hosts = append(hosts, "localhost:"+strconv.Itoa(int(k.Port)))
		case route.Model:
			if u, err := url.Parse(k.Upstream); err == nil {
				port := "443"
				if u.Scheme == "http" {
					port = "80"
				}
				hosts = append(hosts, hostPort(u.Host, port))
			}
		}
	}
	return hosts
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
