package inside

import (
	"slices"
	"strings"
	"testing"
)

// destinations reads flags' words.
func destinations(all ...string) (to []Destination) {
	for _, s := range all {
		d, err := parseDestination(flagTo + s)
		if err != nil {
			panic(err)
		}
		to = append(to, d)
	}
	return to
}

// Only what is named is carried, each block by one rule.
func TestRulesOfDestinations(t *testing.T) {
	var got []string
	for _, r := range theRules(destinations("198.18.0.0/15:443", "203.0.113.9/32", "fd00::/62", "fd00::/62:65535")...).Chains[0].Rules {
		if r.Redirect == TransparentPort {
			got = append(got, r.String())
		}
	}
	want := []string{
		"ip daddr 198.18.0.0/15 tcp dport 443 redirect to :61",
		"ip daddr 203.0.113.9 meta l4proto tcp redirect to :61",
		"ip6 daddr fd00::/62 meta l4proto tcp redirect to :61",
		"ip6 daddr fd00::/62 tcp dport 65535 redirect to :61",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDestinationFlags(t *testing.T) {
	want := Want{ProxyPort: 19190, To: destinations("198.18.0.0/15", "2001:db8::1/128", "198.18.0.0/15:22", "2001:db8::1/128:65535")}
	_, got, rest, err := ParseFlags(append(want.Flags(3), "--", "wall"))
	if err != nil || !slices.Equal(got.To, want.To) || !slices.Equal(rest, []string{"--", "wall"}) {
		t.Errorf("got %v, %q, %v", got.To, rest, err)
	}
	for _, bad := range []string{"--to=", "--to=10.0.0.1", "--to=10.0.0.1/8", "--to=::ffff:10.0.0.0/104", "--to=10.0.0.0/33", "--to=0.0.0.0/0", "--to=::/0", "--to=10.0.0.0/8:", "--to=10.0.0.0/8:0", "--to=10.0.0.0/8:65536", "--to=10.0.0.0/8:+1", "--to=10.0.0.0/8:1:2", "--to=10.0.0.0:22", "--to=2001:db8::1:22"} {
		if _, _, _, err := ParseFlags([]string{"--control=3", bad}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	if err := (Want{To: make([]Destination, MaxTo+1)}).Check(); err == nil {
		t.Error("more destinations than there may be were taken")
	}
}
