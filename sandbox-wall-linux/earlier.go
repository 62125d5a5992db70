package linuxwall

import (
	"math"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/written"
)

// readWritten fills in what earlier sandboxes wrote, which the settings say.
func readWritten(t *tree, f *Facts) error {
	r := t.resolve(join(first(f.Settings), "sandbox/"+written.Name))
	if r.node.Kind == Missing || r.node.Kind == Unseen {
		return nil // of settings that cannot be looked at is said elsewhere
	}
	text, whole := t.sys.Text(r.real, written.MaxBytes)
	const forget = ": remove it, and look at links in folders that sandboxes wrote before you name paths by them"
	if !whole {
		return refuse("settings", r.real, "cannot be read, so it is not known what earlier sandboxes wrote"+forget, nil)
	}
	var err error
	if f.Written, err = written.Read(text); err != nil {
		return refuse("settings", r.real, "is damaged, so it is not known what earlier sandboxes wrote ("+err.Error()+")"+forget, err)
	}
	return nil
}

// earlier gives the folder that an earlier sandbox wrote and in which it can
// have put what stands at a path; "" where it cannot have. What did not change
// since before the first of them is not theirs, as the kernel keeps the time of
// a file's last change, and what is root's is not a user's. A link whose text
// is relative leads elsewhere once a folder above it was moved, which leaves no
// trace on it.
func (t *tree) earlier(path string) string {
	if len(t.facts.Written) == 0 {
		return ""
	}
	n := t.node(path)
	if n.UID == 0 && t.facts.UID != 0 {
		return ""
	}
	changed := n.Changed
	if n.Kind == Link && !strings.HasPrefix(n.Target, "/") {
		changed = math.MaxInt64
	}
	in, _ := t.facts.Written.Since(path, changed)
	return in
}

func (t *tree) anyEarlier(links []string) bool {
	return slices.ContainsFunc(links, func(l string) bool { return t.earlier(l) != "" })
}

// plantedEarlier gives the folder that an earlier sandbox wrote and in which
// it can have put the file that a path leads to, or a link on the way.
func (t *tree) plantedEarlier(path string) string {
	if path == "" {
		return ""
	}
	r := t.resolve(path)
	for _, at := range append(r.links, r.real) {
		if in := t.earlier(at); in != "" {
			return in
		}
	}
	return ""
}
