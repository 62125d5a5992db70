//go:build linux

package inside

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tamper installs the rules in namespaces of its own, changes something with
// nft(8), and says what readBack makes of it; or, with "open", executes a
// program with the capabilities that a stage would have given up.
func tamper(args []string) error {
	if _, err := bringUp(ours{}); err != nil {
		return err
	}
	if err := install(ours{}, theRules()); err != nil {
		return err
	}
	switch args[0] {
	case "without":
		k, ok := bindUnnamed(ours{})
		other := theRules().withoutTold()
		other.Table = "other"
		fmt.Println(ok, install(spare{ours{}, k}, other))
		return unix.Exec("/usr/sbin/nft", []string{"nft", "list", "table", "inet", "other"}, nil)
	case "open":
		return unix.Exec(args[1], args[1:], nil)
	case "list to":
		if err := install(ours{}, ruleSet{Table: "other", Chains: theRules(someTo...).Chains}); err != nil {
			return err
		}
		return unix.Exec("/usr/sbin/nft", []string{"nft", "list", "table", "inet", "other"}, nil)
	case "list":
		return unix.Exec("/usr/sbin/nft", []string{"nft", "list", "ruleset"}, nil)
	case "twice":
		fmt.Println(install(ours{}, theRules()))
		return nil
	}
	if err := readBack(ours{}, theRules()); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	if out, err := exec.Command("/usr/sbin/nft", args[0]).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", args[0], err, out)
	}
	err := readBack(ours{}, theRules())
	fmt.Println(errors.Is(err, ErrMismatch), err)
	return nil
}

func tampered(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(self, append([]string{"tamper"}, args...)...)
	cmd.SysProcAttr = inNewNamespaces()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// What the kernel holds, as another program reads it, is what String shows.
func TestTheKernelHoldsTheRulesAsShown(t *testing.T) {
	if got, want := tampered(t, "list"), listed(theRules()); got != want {
		t.Errorf("nft lists\n%s\nand not\n%s", got, want)
	}
}

var someTo = destinations("198.18.0.0/15", "203.0.113.9/32", "10.0.0.0/8:22", "10.0.0.0/8:8443",
	"fde2:56fc:2074::/64:443", "2001:db8::/33", "2001:db8::1/128", "2001:db8::1/128:65535")

func TestTheKernelHoldsDestinationsAsShown(t *testing.T) {
	rules := theRules(someTo...)
	rules.Table = "other"
	if got, want := tampered(t, "list to"), listed(rules); got != want {
		t.Errorf("nft lists\n%s\nand not\n%s", got, want)
	}
}

func TestReadBackSeesEveryChange(t *testing.T) {
	for i, change := range []string{
		"insert rule inet lnk refuse accept",
		"add rule inet lnk refuse accept",
		"add rule inet lnk carry accept",
		"insert rule inet lnk refuse ip daddr 192.0.2.1 accept",
		"insert rule inet lnk refuse ct state established accept",
		"insert rule inet lnk refuse counter",
		"insert rule inet lnk refuse udp sport 1 accept",
		"insert rule inet lnk refuse udp dport != 1 accept",
		"insert rule inet lnk refuse meta mark 1 accept",
		"insert rule inet lnk refuse ip daddr 127.0.0.0/9 accept",
		"insert rule inet lnk refuse drop",
		"add chain inet lnk x; insert rule inet lnk refuse jump x",
		"flush chain inet lnk carry",
		"flush chain inet lnk refuse",
		"flush table inet lnk",
		"delete table inet lnk",
		"add table inet other",
		"add table ip other",
		"add table netdev other",
		"add table inet lnk { flags dormant; }",
		"add chain inet lnk other",
		"add chain inet lnk other { type filter hook output priority -500; policy accept; }",
		"add chain inet lnk refuse { policy accept; }",
		"add chain inet lnk arrive { policy accept; }",
		"add chain inet lnk pass { policy accept; }",
		"add chain inet lnk carry { policy drop; }",
	} {
		if withRace && i%5 != 0 {
			continue // one goroutine reads back: all changes are made where no races are looked for
		}
		if got := tampered(t, change); !strings.HasPrefix(got, "true ") {
			t.Errorf("%s: %s", change, got)
		}
	}
	// Nothing changed in the end is no change.
	if got := tampered(t, "add table inet other; delete table inet other"); got != "false <nil>\n" {
		t.Errorf("no change: %s", got)
	}
}

func TestATableThatIsThereIsNotReplaced(t *testing.T) {
	if got, want := tampered(t, "twice"), "network inside: rules: table lnk: file exists\n"; got != want {
		t.Errorf("got %s", got)
	}
}
