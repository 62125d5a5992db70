package linuxwall

import (
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// A machine that lets nobody like the caller make namespaces is told at once,
// with the setting that does it.
func TestNoNamespaces(t *testing.T) {
	for _, c := range []struct {
		setting string
		uid     int
		says    string
	}{
		{"/proc/sys/user/max_user_namespaces: 0\n", 1000, "user.max_user_namespaces is 0"},
		{"/proc/sys/user/max_user_namespaces: 0\n", 0, "sysctl user.max_user_namespaces=10000"},
		{"/proc/sys/user/max_user_namespaces: 100\n", 1000, ""},
		{"/proc/sys/kernel/unprivileged_userns_clone: 0\n", 1000, "kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/kernel/unprivileged_userns_clone: 0\n", 0, ""},
	} {
		m := made(debian + c.setting)
		m.uid = c.uid
		facts, err := readFacts(m.system(), client.Confinement{Name: "x", Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{}), Write: []string{}, Read: []string{}}, Own, Bubblewrap, m.environ)
		if err != nil {
			t.Fatal(err)
		}
		_, err = PlanFor(client.Confinement{Name: "x", Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{}), Write: []string{}, Read: []string{}}, Own, facts, []string{"true"})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q as %d: %v, want %q", c.setting, c.uid, err, c.says)
		}
	}
}
