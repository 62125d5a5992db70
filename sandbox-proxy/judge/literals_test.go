package judge

import (
	"fmt"
	"testing"
)

// What is carried by address is what rules name by address, and no more.
func TestLiterals(t *testing.T) {
	for _, c := range []struct {
		rules Rules
		want  string
	}{
		{Rules{Hosts: []string{}}, "[] false"},
		{Rules{Hosts: []string{"a.test", "*.b.test", "203.0.113.9", "[2001:db8::1]:8443"}, TCP: []string{"10.1.2.3:22", "c.test:22"}}, "[10.1.2.3 203.0.113.9 2001:db8::1] false"},
		{Rules{TCP: []string{"10.1.2.3:22"}}, "[10.1.2.3] true"},
		{Rules{Hosts: []string{"203.0.113.9"}, NoInternet: true}, "[] false"},
	} {
		j, err := New(c.rules, Machine())
		if err != nil {
			t.Fatal(err)
		}
		addrs, all := j.Literals()
		if got := fmt.Sprint(addrs, all); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.rules, got, c.want)
		}
	}
}
