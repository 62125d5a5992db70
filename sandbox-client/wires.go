package client

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Wires is which ways out are closed just now, as lnk sandbox paused --json
// prints it. It is an observation: it never replaces the proxy's own check, on
// every call.
type Wires struct {
	_ [0]func()

	// Stopped says that every wire is stopped.
	Stopped bool `json:"stopped"`
	// Paused are the sandboxes whose wire is paused, by name.
	Paused []PausedWire `json:"paused"`
}

// PausedWire is one sandbox's wire that is paused.
type PausedWire struct {
	_ [0]func()

	// Sandbox is the sandbox's name.
	Sandbox string `json:"sandbox"`
	// Why is what it was paused for; it may be empty. At most 4 KiB.
	Why string `json:"why"`
}

// ErrUnavailable is what the state that cannot be read wraps: it is neither
// open nor closed.
var ErrUnavailable = errors.New("the state cannot be read")

// whyMax is how much of a pause's text is read, in bytes.
const whyMax = 4 << 10

// WiresNow reads the wires' state in the settings folder of this process.
func WiresNow() (Wires, error) {
	s, err := Settings()
	if err != nil {
		return Wires{}, errors.Join(ErrUnavailable, err)
	}
	return ReadWiresFrom(s)
}

// ReadWiresFrom reads the wires' state afresh. What is missing is open; what
// is there and cannot be read is [ErrUnavailable], never open. Nothing is
// created.
func ReadWiresFrom(s SettingsFolder) (Wires, error) {
	none := Wires{}
	stopped, err := exists(s.Stopped())
	if err != nil {
		return none, err
	}
	entries, err := os.ReadDir(s.PausedFolder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return none, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	w := Wires{Stopped: stopped, Paused: []PausedWire{}}
	for _, e := range entries {
		// What no sandbox can be called is a file being written, not a flag.
		if form.Name(e.Name()) != nil {
			continue
		}
		why, there, err := readWhy(filepath.Join(s.PausedFolder(), e.Name()))
		if err != nil {
			return none, err
		}
		if there {
			w.Paused = append(w.Paused, PausedWire{Sandbox: e.Name(), Why: why})
		}
	}
	return w, nil
}

// A Wire is what the flags say of one sandbox's way out. Stopped holds all.
type Wire struct {
	_ [0]func()

	// Stopped says that every wire is stopped.
	Stopped bool
	// Paused says that this one is paused.
	Paused bool
	// Why is what it was paused for; it may be empty.
	Why string
}

// ReadWireFrom reads one sandbox's wire afresh, as [ReadWiresFrom] reads all.
func ReadWireFrom(s SettingsFolder, sandbox string) (Wire, error) {
	f, err := s.Flags(sandbox)
	if err != nil {
		return Wire{}, errors.Join(ErrUnavailable, err)
	}
	return f.Read()
}

// Flags are the files that close one sandbox's wire, for who asks on every
// call.
type Flags struct {
	_ [0]func()

	stopped, paused string
}

// Flags names the flags of a sandbox's wire.
func (s SettingsFolder) Flags(sandbox string) (Flags, error) {
	paused, err := s.Paused(sandbox)
	return Flags{stopped: s.Stopped(), paused: paused}, err
}

// Read reads them afresh: two looks at files. It needs no descriptor. What
// cannot be read is [ErrUnavailable].
func (f Flags) Read() (Wire, error) {
	stopped, err := exists(f.stopped)
	if err != nil || stopped {
		return Wire{Stopped: stopped}, err
	}
	// Looked for before it is opened: opening takes a descriptor, and who has
	// none left is told that before whether the file is there (open(2)).
	if paused, err := exists(f.paused); err != nil || !paused {
		return Wire{}, err
	}
	why, paused, err := readWhy(f.paused)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return Wire{Paused: true}, nil
	}
	if err != nil {
		return Wire{}, err
	}
	return Wire{Paused: paused, Why: why}, nil
}

// exists says whether anything has that name, whatever it is. A name below
// something that is not a folder cannot be told, so it is no answer. It is
// asked on every call, and so without what os.Lstat makes of the answer.
func exists(path string) (bool, error) {
	for {
		var status syscall.Stat_t
		err := syscall.Lstat(path, &status)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != syscall.EINTR: // lstat(2) of a folder that a program serves
			return false, fmt.Errorf("%w: %w", ErrUnavailable, &fs.PathError{Op: "lstat", Path: path, Err: err})
		}
	}
}

// readWhy reads a flag's text. One that went away meanwhile is not there. No
// link is followed, and no pipe waited for.
func readWhy(path string) (why string, there bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("%w: %s: not a file", ErrUnavailable, path)
	}
	b, err := io.ReadAll(io.LimitReader(f, whyMax))
	if err != nil {
		return "", false, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return plainText(string(b)), true, nil
}

// plainText drops what is no text: a flag can be written by hand.
func plainText(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
}

// ReadWires reads what lnk sandbox paused --json prints.
func ReadWires(r io.Reader) (Wires, error) { return read(r, wiresShape) }

// WriteWires writes it, the sandboxes by name.
func WriteWires(w io.Writer, v Wires) error {
	v.Paused = append([]PausedWire{}, v.Paused...)
	slices.SortFunc(v.Paused, func(a, b PausedWire) int { return cmp.Compare(a.Sandbox, b.Sandbox) })
	return write(w, v)
}

// Check judges the values: each sandbox once.
func (v Wires) Check() error {
	seen := map[string]bool{}
	return form.At("paused", form.Each(v.Paused, func(p PausedWire) error {
		if err := form.At("sandbox", form.Name(p.Sandbox)); err != nil {
			return err
		}
		if seen[p.Sandbox] {
			return form.At("sandbox", form.Refuse(form.Quote(p.Sandbox)+": named twice"))
		}
		seen[p.Sandbox] = true
		return form.At("why", form.Argument(p.Why))
	}))
}

func wiresShape(v *Wires) form.Shape {
	return form.Object(
		form.Required("stopped", form.Bool(&v.Stopped)),
		form.Required("paused", form.List(&v.Paused, func(p *PausedWire) form.Shape {
			return form.Object(
				form.Required("sandbox", form.String(&p.Sandbox)),
				form.Required("why", form.String(&p.Why)),
			)
		})),
	)
}
