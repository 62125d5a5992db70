package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Base is what [Of] needs to know of this machine.
type Base struct {
	_ [0]func()

	// Home is the user's home folder, absolute and clean.
	Home string
	// Folder is the spec's own folder, which its relative paths start from,
	// absolute and clean.
	Folder string
	// Settings is the settings folder; it need not be there.
	Settings SettingsFolder
	// Sockets is the folder for the sockets of the sandbox's proxy or relay,
	// for the modes that have one.
	Sockets string
	// Resolve follows the symbolic links of a path that is there, as
	// [filepath.EvalSymlinks] does. Nil follows none and takes all to be there.
	Resolve func(path string) (string, error)
	// FoldCase compares paths in any case, as the file systems of macOS do.
	FoldCase bool
	// Tool gives the tool of a name that runs outside; [fs.ErrNotExist] when
	// there is none. Nil has none.
	Tool func(name string) (route.Tool, error)
}

// BaseFor reads this machine for a spec kept in folder, and the home and
// settings folders of this process. Sockets stays to be set.
func BaseFor(folder string) (Base, error) {
	home, err := homeFolder()
	if err != nil {
		return Base{}, err
	}
	settings, err := Settings()
	if err != nil {
		return Base{}, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return Base{}, fmt.Errorf("the folder of the spec: %w", err)
	}
	return Base{
		Home: home, Folder: folder, Settings: settings,
		Resolve:  filepath.EvalSymlinks,
		FoldCase: runtime.GOOS == "darwin",
		Tool:     settings.registeredTool,
	}, nil
}

// registeredTool reads a tool that runs outside.
func (s SettingsFolder) registeredTool(name string) (route.Tool, error) {
	path, err := s.Tool(name)
	if err != nil {
		return route.Tool{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return route.Tool{}, err
	}
	defer f.Close()
	t, err := route.ReadNamedTool(f)
	if err == nil && t.Name != name {
		err = fmt.Errorf("it is of tool %s", form.Quote(t.Name))
	}
	if err != nil {
		return route.Tool{}, fmt.Errorf("%s: %w", path, err)
	}
	return t.Tool, nil
}

// check refuses a Base that is no use: who made it has to change it, not who
// wrote the spec.
func (b Base) check() error {
	for _, p := range []struct{ name, path string }{
		{"Home", b.Home}, {"Folder", b.Folder}, {"Settings", string(b.Settings)},
	} {
		if err := form.Path(p.path); err != nil {
			return fmt.Errorf("client.Base: %s: %v", p.name, err)
		}
	}
	return nil
}

// absolute gives a spec's path in full.
func (b Base) absolute(p string) string {
	switch {
	case p == "~":
		return b.Home
	case len(p) > 1 && p[:2] == "~/":
		return filepath.Join(b.Home, p[2:])
	case filepath.IsAbs(p):
		return filepath.Clean(p)
	}
	return filepath.Join(b.Folder, p)
}

// thereIs follows a path's links, refusing one that is not there.
func (b Base) thereIs(p string) (string, error) {
	if b.Resolve == nil {
		return p, nil
	}
	real, err := b.Resolve(p)
	switch {
	case err == nil:
		return real, nil
	case errors.Is(err, fs.ErrNotExist):
		if why := Unexpanded(p); why != "" {
			return "", form.Refuse(form.Quote(p) + ": not there, and " + why)
		}
		return "", form.Refuse(form.Quote(p) + ": not there, make it first")
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return "", form.Refuse(form.Quote(p) + ": cannot be looked at: " + form.OneLine(err.Error()))
}

// checkHide refuses what a shell would expand and is no file's name: who writes
// one relies on it, and it would close nothing. What is merely not there may be
// hidden.
func (b Base) checkHide(p string) error {
	why := Unexpanded(p)
	if err := form.Path(p); err != nil || b.Resolve == nil || why == "" {
		return err
	}
	if _, err := b.Resolve(p); errors.Is(err, fs.ErrNotExist) {
		return form.Refuse(form.Quote(p) + ": not there, and " + why)
	}
	return nil
}

// follow follows a path's links as far as it is there.
func (b Base) follow(p string) string {
	if b.Resolve == nil {
		return p
	}
	return route.Follow(b.Resolve)(p)
}
