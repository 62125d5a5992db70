package folder

import (
	"errors"
	"testing"
)

func TestJudge(t *testing.T) {
	const me, mine, other = 1000, 100, 7
	in := func(gid int) bool { return gid == mine }
	for _, c := range []struct {
		name  string
		f     facts
		group int
		ok    bool
	}{
		{"private", facts{true, 0o700, me, 5}, Anyone, true},
		{"shared", facts{true, 0o2770, me, 5}, Anyone, true},
		{"somebody's, shared with a group of mine", facts{true, 0o2770, other, mine}, Anyone, true},
		{"somebody's, shared with others", facts{true, 0o2770, other, 5}, Anyone, false},
		{"somebody's private", facts{true, 0o700, other, mine}, Anyone, false},
		{"no folder", facts{false, 0o700, me, mine}, Anyone, false},
		{"open to all", facts{true, 0o755, me, mine}, Anyone, false},
		{"of the group, but not for new files", facts{true, 0o770, me, mine}, Anyone, false},
		{"shared and open to all", facts{true, 0o2777, me, mine}, Anyone, false},
		{"sticky", facts{true, 0o3770, me, mine}, Anyone, false},
		{"of the group that is named", facts{true, 0o2770, other, 5}, 5, true},
		{"of another group than is named", facts{true, 0o2770, me, mine}, 5, false},
		{"private, and a group is named", facts{true, 0o700, me, 5}, 5, false},
		{"a link, and a group is named", facts{false, 0o2770, me, 5}, 5, false},
	} {
		err := judge(c.f, me, in, c.group)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrFolder) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for mode, want := range map[uint32]bool{0o755: true, 0o775: true, 0o711: true, 0o700: false, 0o2770: false, 0o1777: false, 0o2755: false, 0o555: false} {
		if tightened(mode) != want {
			t.Errorf("%04o: tightened %v", mode, !want)
		}
	}
	if modeOf(shared) != 0o660 || modeOf(private) != 0o600 {
		t.Error("modes of sockets")
	}
}
