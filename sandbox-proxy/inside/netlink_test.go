package inside

import (
	"errors"
	"syscall"
	"testing"
)

// acked is the kernel's answer to the request with a number.
func acked(seq uint32, no syscall.Errno) []byte {
	return envelope(nlmsgError, 0, seq, append(u32(uint32(-int32(no))), make([]byte, nlHeader)...))
}

func TestAnswers(t *testing.T) {
	of := make([]request, 3)
	for what, c := range map[string]struct {
		packets [][]byte
		done    bool
		said    map[int]syscall.Errno
		all     syscall.Errno
	}{
		"all went well":     {[][]byte{acked(3, 0)}, true, map[int]syscall.Errno{}, 0},
		"one failed":        {[][]byte{acked(2, syscall.EEXIST), acked(3, 0)}, true, map[int]syscall.Errno{1: syscall.EEXIST}, 0},
		"in one packet":     {[][]byte{concat(acked(1, syscall.EPERM), acked(3, syscall.EPERM))}, true, map[int]syscall.Errno{0: syscall.EPERM, 2: syscall.EPERM}, 0},
		"the last failed":   {[][]byte{acked(3, syscall.EPERM)}, true, map[int]syscall.Errno{2: syscall.EPERM}, 0},
		"the batch failed":  {[][]byte{acked(0, syscall.ENOBUFS)}, true, map[int]syscall.Errno{}, syscall.ENOBUFS},
		"more is to come":   {[][]byte{acked(1, syscall.EPERM)}, false, map[int]syscall.Errno{0: syscall.EPERM}, 0},
		"nothing came":      {[][]byte{{}}, false, map[int]syscall.Errno{}, 0},
		"one that was fine": {[][]byte{acked(1, 0)}, false, map[int]syscall.Errno{}, 0},
	} {
		a := answers{of: of}
		for _, p := range c.packets {
			if err := a.read(p); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		for i := range of {
			if a.said[i] != c.said[i] {
				t.Errorf("%s: request %d got %v", what, i, a.said[i])
			}
		}
		if a.done != c.done || a.all != c.all {
			t.Errorf("%s: done %v, all %v", what, a.done, a.all)
		}
	}
	for what, p := range map[string][]byte{
		"twice": concat(acked(1, 0), acked(1, 0)), "of no request": acked(4, 0), "of the first message, without a failure": acked(0, 0),
		"of another kind": envelope(rtmNewLink, 0, 1, make([]byte, 20)), "too short": envelope(nlmsgError, 0, 1, nil),
		"cut": acked(1, 0)[:nlHeader+3], "with a length of nothing": make([]byte, nlHeader),
	} {
		a := answers{of: of}
		if err := a.read(p); !errors.Is(err, errNetlink) {
			t.Errorf("an answer %s: %v", what, err)
		}
	}
}

func TestLinksDone(t *testing.T) {
	of := linkRequests()
	for _, c := range []struct {
		said map[int]syscall.Errno
		six  bool
		fail bool
	}{
		{nil, true, false},
		{map[int]syscall.Errno{3: syscall.EACCES}, false, false},
		{map[int]syscall.Errno{3: syscall.EOPNOTSUPP, 4: syscall.EOPNOTSUPP}, false, false},
		{map[int]syscall.Errno{3: syscall.EAFNOSUPPORT, 4: syscall.ENETDOWN}, false, false},
		{map[int]syscall.Errno{0: syscall.EPERM}, false, true},
		{map[int]syscall.Errno{1: syscall.EACCES}, false, true},
		{map[int]syscall.Errno{2: syscall.EOPNOTSUPP}, false, true},
		{map[int]syscall.Errno{3: syscall.ENOMEM}, false, true},
		{map[int]syscall.Errno{4: syscall.EINVAL}, false, true},
	} {
		six, err := linksDone(answers{of: of, said: c.said})
		if six != c.six || (err != nil) != c.fail {
			t.Errorf("%v: %v, %v", c.said, six, err)
		}
	}
}

// The kernel of the test may take either; most take this one only.
func TestTheIPv6RouteIsLocal(t *testing.T) {
	r := linkRequests()[4]
	if r.body[0] != afInet6 || r.body[7] != routeLocal {
		t.Errorf("the route is %x", r.body)
	}
}

func TestListLinksAsksForAll(t *testing.T) {
	all, err := readReplies(listLinks())
	if err != nil || len(all) != 1 || all[0].kind != rtmGetLink || all[0].flags != nlmRequest|nlmDump || len(all[0].body) != ifInfo {
		t.Errorf("%+v, %v", all, err)
	}
}

// link is an interface as the kernel lists it.
func link(index, flags uint32) []byte {
	return envelope(rtmNewLink, 0, 1, concat(make([]byte, 4), u32(index), u32(flags), u32(0)))
}

func TestFresh(t *testing.T) {
	done := envelope(nlmsgDone, 0, 1, make([]byte, 4))
	for what, c := range map[string]struct {
		packet []byte
		fresh  bool
	}{
		"new":                 {concat(link(1, iffLoopback), done), true},
		"in use":              {concat(link(1, iffLoopback|iffUp), done), false},
		"with another":        {concat(link(1, iffLoopback), link(2, 0), done), false},
		"without loopback":    {concat(link(1, 0), done), false},
		"with loopback later": {concat(link(2, iffLoopback), done), false},
		"empty":               {done, false},
	} {
		d := dump{kind: rtmNewLink, head: ifInfo}
		if err := d.read(c.packet); err != nil || !d.done {
			t.Fatalf("%s: %v, %v", what, err, d.done)
		}
		if err := fresh(d.got); (err == nil) != c.fresh || err != nil && !errors.Is(err, errNotFresh) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestDump(t *testing.T) {
	for what, p := range map[string][]byte{
		"changed while it was listed": envelope(rtmNewLink, nlmDumpInterrupted, 1, make([]byte, ifInfo)),
		"of another kind":             envelope(rtmNewAddr, 0, 1, make([]byte, ifInfo)),
		"too short":                   envelope(rtmNewLink, 0, 1, make([]byte, 4)),
	} {
		d := dump{kind: rtmNewLink, head: ifInfo}
		if err := d.read(p); !errors.Is(err, errNetlink) {
			t.Errorf("%s: %v", what, err)
		}
	}
	d := dump{kind: rtmNewLink, head: ifInfo}
	if err := d.read(acked(1, syscall.EPERM)); !errors.Is(err, syscall.EPERM) {
		t.Errorf("refused: %v", err)
	}
	var many []byte
	for i := range maxReplies + 1 {
		many = append(many, link(uint32(i), 0)...)
	}
	if err := d.read(many); !errors.Is(err, errNetlink) {
		t.Errorf("without end: %v", err)
	}
}

// What is taken apart adds up to what came.
func FuzzReadReplies(f *testing.F) {
	f.Add(concat(link(1, iffLoopback), acked(1, syscall.EPERM)))
	f.Add(marshal(linkRequests()))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := readReplies(b)
		if err != nil {
			return
		}
		var again []byte
		for _, r := range all {
			again = append(again, envelope(r.kind, r.flags, r.seq, r.body)...)
		}
		if len(again)&^3 < len(b)&^3 {
			t.Errorf("%d bytes became %d", len(b), len(again))
		}
		_ = (&answers{of: make([]request, 3)}).read(b)
		_ = (&dump{kind: rtmNewLink, head: ifInfo}).read(b)
	})
}

func FuzzReadAttributes(f *testing.F) {
	f.Add(concat(attribute(1, 1, 2, 3), attribute(nested|2, attribute(3)...)))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := readAttributes(b)
		if err != nil {
			return
		}
		sum := 0
		for _, a := range all {
			sum += (4 + len(a.value) + 3) &^ 3
		}
		if sum < len(b) || sum > len(b)+3 {
			t.Errorf("%d bytes became %d", len(b), sum)
		}
	})
}
