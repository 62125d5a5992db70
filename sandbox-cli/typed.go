package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// flagOf are the flags that add to a key of a spec.
var flagOf = map[string]string{
	"files.write": "--write", "files.write_dot_files": "--write-dot-files", "files.read": "--read", "files.hide": "--hide",
	"program.commands.only": "--only",
	"network.hosts":         "--internet-host", "network.tcp": "--tcp", "network.lan": "--lan",
	"network.ports": "--port", "network.serve": "--serve", "network.local_models": "--local-model",
	"network.tools": "--tool", "network.open": "--open",
}

// asTyped says in the words of the command line what is refused of a
// confinement that was asked for there. alone is what is refused of the spec by
// itself: the same is told in the spec's words.
func (f *runFlags) asTyped(err, alone error) error {
	var refused *client.SpecError
	if !errors.As(err, &refused) {
		return err
	}
	if alone != nil && alone.Error() == err.Error() {
		return withStatus(statusRefused, err)
	}
	key, _, _ := strings.Cut(refused.Key, "[")
	flag, ok := flagOf[key]
	switch {
	case !ok:
		return withStatus(statusRefused, err)
	case key == "files.write" && f.usual():
		return refuse("the current folder, which is written where nothing is granted: %s; go to one, or grant it: --write <folder>", refused.Problem)
	}
	return refuse("%s: %s", flag, strings.ReplaceAll(refused.Problem, "one of write", "one of --write"))
}

// usual says whether nothing says what is opened: then the current folder is.
func (f *runFlags) usual() bool { return !f.spec.given() && !f.any() }

// routeFlag is the flag that had a route made to the host.
func (f *runFlags) routeFlag(host string) string {
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	names := func(value string) bool { return strings.Contains(value, host) }
	switch {
	case slices.ContainsFunc(f.secrets, names):
		return "--secret"
	case f.withFD != 0:
		return "--with-fd: /secrets"
	}
	return "--model"
}

// wayAsTyped says in the words of the command line, or of its spec, what is
// refused of a confinement's network.
func (f *runFlags) wayAsTyped(err error) error {
	var rule *judge.RuleError
	if errors.As(err, &rule) && rule.Member == "routes" {
		return refuse("%s: %q: %s", f.routeFlag(rule.Entry), rule.Entry, rule.Why)
	}
	if errors.As(err, &rule) {
		given := map[string][]string{"hosts": f.hosts, "tcp": f.tcp}[rule.Member]
		if flag, ok := flagOf["network."+rule.Member]; ok && (!f.spec.given() || slices.Contains(given, rule.Entry)) {
			return refuse("%s: %q: %s", flag, rule.Entry, rule.Why)
		}
		return refuse("network.%s[%d]: %q: %s", rule.Member, rule.Index, rule.Entry, rule.Why)
	}
	if err == nil {
		return nil
	}
	rest, is := strings.CutPrefix(err.Error(), "/confinement/net")
	if !is {
		return err
	}
	at, problem, _ := strings.Cut(rest, ": ")
	key := "network." + at[strings.LastIndex(at, "/")+1:]
	if flag, ok := flagOf[key]; ok && !f.spec.given() {
		key = flag
	}
	return withStatus(statusOf(err), fmt.Errorf("%s: %s", strings.TrimSuffix(key, "."), problem))
}
