package proxy

import "testing"

// However a head is cut into pieces, the one that holds its end ends blank.
func TestEndsBlank(t *testing.T) {
	for _, head := range []string{"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\nA: b\n\n", "HTTP/1.1 200 OK\r\nA: b\r\n\n", "HTTP/1.1 200 OK\nA: b\n\r\n"} {
		for at := range len(head) {
			if !endsBlank([]byte(head[at:])) {
				t.Errorf("%q", head[at:])
			}
			if endsBlank([]byte(head[at:]+"body\n")) || endsBlank([]byte(head[at:]+"b")) {
				t.Errorf("%q and a body", head[at:])
			}
		}
	}
}
