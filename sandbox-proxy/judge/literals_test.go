package judge

import (
	"fmt"
	"testing"
)

// What is carried is what rules open, by address what they name by address, and no more.
func TestReach(t *testing.T) {
	for _, c := range []struct {
		rules Rules
		want  string
	}{
		{Rules{Hosts: []string{}}, "{false [] []}"},
		{Rules{Hosts: []string{"a.test", "*.b.test", "203.0.113.9", "[2001:db8::1]:8443"}, TCP: []string{"10.1.2.3:22", "c.test:22"}}, "{false [22 80 443] [10.1.2.3:22 203.0.113.9:80 203.0.113.9:443 [2001:db8::1]:8443]}"},
		{Rules{TCP: []string{"10.1.2.3:22"}}, "{true [] [10.1.2.3:22]}"},
		{Rules{Hosts: []string{"203.0.113.9"}, NoInternet: true}, "{false [] []}"},
		{Rules{Hosts: []string{"*.a.test:8443", "b.test:22"}, TCP: []string{"b.test:22", "b.test:5432"}}, "{false [22 5432 8443] []}"},
	} {
		j, err := New(c.rules, Machine())
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(j.Reach()); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.rules, got, c.want)
		}
	}
}
