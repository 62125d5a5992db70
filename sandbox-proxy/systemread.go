package proxy

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// ReadSystemProxies reads what the machine's owner has set: the environment
// where it names a proxy, else macOS's network settings. Settings gives what
// scutil --proxy prints; nil where there is no such thing.
func ReadSystemProxies(getenv func(string) string, settings func() (string, error)) (SystemProxies, error) {
	either := func(name string) string { return cmp.Or(getenv(strings.ToLower(name)), getenv(name)) }
	s := SystemProxies{HTTP: either("HTTP_PROXY"), HTTPS: either("HTTPS_PROXY"), All: either("ALL_PROXY"), Without: either("NO_PROXY")}
	if getenv("REQUEST_METHOD") != "" {
		s.HTTP = getenv("http_proxy") // HTTP_PROXY is a header that a web server was sent (httpoxy)
	}
	if s.HTTP != "" || s.HTTPS != "" || s.All != "" || settings == nil {
		return s, nil
	}
	text, err := settings()
	if err != nil {
		return SystemProxies{}, fmt.Errorf("upstream: system: the network settings: %w", err)
	}
	return parseScutil(text)
}

// parseScutil reads what scutil --proxy prints: a dictionary, a member a line,
// "  HTTPProxy : proxy.example", and one list of what goes directly.
func parseScutil(text string) (SystemProxies, error) {
	members := map[string]string{}
	var without []string
	inList := false
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxWithout)
	for lines.Scan() {
		name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), " : ")
		switch {
		case !ok:
			inList = inList && name != "}"
		case value == "<array> {":
			inList = name == "ExceptionsList"
		case inList:
			without = append(without, exception(value))
		default:
			members[name] = value
		}
	}
	on := func(what string) bool { return members[what+"Enable"] == "1" }
	if on("ProxyAutoConfig") || on("ProxyAutoDiscovery") {
		return SystemProxies{}, errors.New("upstream: system: the network settings name a program that chooses proxies (a PAC file), which is not run: name the proxy as http://host:port")
	}
	proxy := func(kind, scheme string) string {
		if !on(kind) {
			return ""
		}
		return scheme + "://" + net.JoinHostPort(members[kind+"Proxy"], members[kind+"Port"])
	}
	return SystemProxies{
		HTTP: proxy("HTTP", "http"), HTTPS: proxy("HTTPS", "http"), All: proxy("SOCKS", "socks5"),
		Without: strings.Join(without, ","), Simple: members["ExcludeSimpleHostnames"] == "1",
	}, nil
}

// exception gives one of macOS's exceptions as NO_PROXY has it: *.local is
// .local there, and 169.254/16 is written whole.
func exception(s string) string {
	if rest, ok := strings.CutPrefix(s, "*."); ok {
		return "." + rest
	}
	address, bits, ok := strings.Cut(s, "/")
	if parts := strings.Split(address, "."); ok && len(parts) < 4 && digits(parts) {
		return strings.Join(append(parts, "0", "0", "0")[:4], ".") + "/" + bits
	}
	return s
}

func digits(parts []string) bool {
	for _, p := range parts {
		if _, err := strconv.ParseUint(p, 10, 8); err != nil {
			return false
		}
	}
	return true
}
