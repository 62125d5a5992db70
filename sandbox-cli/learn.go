package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// maxLearned bounds the distinct uses that are remembered.
const maxLearned = 4096

// learnOpens is said before every run that learns.
const learnOpens = "--learn: this run may call every host of the internet, at any port; private networks stay closed"

// A learner remembers what calls were used for, and gives the rules that would
// let the same through.
type learner struct {
	mu   sync.Mutex
	used map[proxy.Learned]bool
	more int
}

func (l *learner) note(u proxy.Learned) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used == nil {
		l.used = map[proxy.Learned]bool{}
	}
	if len(l.used) >= maxLearned && !l.used[u] {
		l.more++
		return
	}
	l.used[u] = true
}

// rules are the entries of hosts and tcp, sorted. A host stands in hosts where
// that is enough: TLS at 443, http at 80, either at a port that is named.
func (l *learner) rules() (hosts, tcp []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	inHosts, inTCP := map[string]bool{}, map[string]bool{}
	for u := range l.used {
		at := u.Host + ":" + strconv.Itoa(int(u.Port))
		switch {
		case u.Port == 443 && u.Spoke == judge.TLS, u.Port == 80 && u.Spoke == judge.HTTP:
			inHosts[u.Host] = true
		case u.Port == 443, u.Port == 80, u.Spoke == judge.AnyProtocol:
			inTCP[at] = true
		default:
			inHosts[at] = true
		}
	}
	return slices.Sorted(maps.Keys(inHosts)), slices.Sorted(maps.Keys(inTCP))
}

// print gives the rules as a spec has them.
func (l *learner) print(w io.Writer) {
	hosts, tcp := l.rules()
	if len(hosts)+len(tcp) == 0 {
		complainLine(w, "run", "--learn: no host was called")
		return
	}
	complainLine(w, "run", "--learn: this, in a sandbox.toml, would allow what was called:")
	fmt.Fprintf(w, "[network]\nmode = \"proxied\"\nhosts = %s\n", tomlList(hosts))
	if len(tcp) > 0 {
		fmt.Fprintf(w, "tcp = %s\n", tomlList(tcp))
	}
	if l.more > 0 {
		complainLine(w, "run", fmt.Sprintf("--learn: %d more calls were not remembered", l.more))
	}
}

func tomlList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = strconv.Quote(item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// checkLearn refuses to learn where nothing can be learned, or where the spec
// says that there is no internet. A flag that opens does not undo a word that closes.
func checkLearn(c client.Confinement) error {
	mode, ok := c.Net.Mode().(client.Proxied)
	if !ok {
		return refuse("--learn: the spec's network is %s: want proxied, or none", modeName(c.Net.Mode()))
	}
	if mode.Proxy.NoInternet {
		return refuse("--learn: the spec says no_internet: take it out to learn")
	}
	return nil
}
