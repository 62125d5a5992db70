package alone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/changelog"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

const (
	modName = "alone.mod"
	sumName = "alone.sum"
)

// off keeps the workspace out, and flags that a user's build would not have.
var off = []string{"GOWORK=off", "GOFLAGS=-buildvcs=false"}

// Check vets and builds the module without the workspace, for Linux and for
// macOS, and says what tidying its go.mod would change.
func Check(ctx context.Context, w workspace.Workspace, m workspace.Module) error {
	cleanUp, err := prepare(ctx, w, m)
	if err != nil {
		return err
	}
	defer cleanUp()
	var all []error
	for _, system := range []string{"linux", "darwin"} {
		env := append(slices.Clone(off), "GOOS="+system, "CGO_ENABLED=0")
		if _, err := w.Go(ctx, m.Folder, env, "vet", "-modfile="+modName, "./..."); err != nil {
			all = append(all, fmt.Errorf("%s: %w", system, err))
			continue
		}
		if _, err := w.Go(ctx, m.Folder, env, "build", "-modfile="+modName, "-o", os.DevNull, "./..."); err != nil {
			all = append(all, fmt.Errorf("%s: %w", system, err))
		}
	}
	if _, err := w.Go(ctx, m.Folder, off, "mod", "tidy", "-diff", "-modfile="+modName); err != nil {
		all = append(all, fmt.Errorf("%w\nto mend go.mod and go.sum: scripts/check-alone --fix %s", err, m.Folder))
	}
	return errors.Join(all...)
}

// Fix tidies the module's go.mod and go.sum.
func Fix(ctx context.Context, w workspace.Workspace, m workspace.Module) error {
	cleanUp, err := prepare(ctx, w, m)
	if err != nil {
		return err
	}
	defer cleanUp()
	if _, err := w.Go(ctx, m.Folder, off, "mod", "tidy", "-modfile="+modName); err != nil {
		return err
	}
	if m.Folder != "." { // the root's own replaces stay
		if err := release(ctx, w, m); err != nil {
			return err
		}
	}
	dir := filepath.Join(w.Root, m.Folder)
	if err := os.Rename(filepath.Join(dir, modName), filepath.Join(dir, "go.mod")); err != nil {
		return err
	}
	err = os.Rename(filepath.Join(dir, sumName), filepath.Join(dir, "go.sum"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it needs no module of others
	}
	return err
}

// madeUp is the version that tidy gives a requirement it adds for a module that
// is replaced by a folder.
const madeUp = "v0.0.0-00010101000000-000000000000"

// release makes alone.mod fit for go.mod again: no sibling is replaced, and
// each is required at the version that its changelog has on top.
func release(ctx context.Context, w workspace.Workspace, m workspace.Module) error {
	text, err := os.ReadFile(filepath.Join(w.Root, m.Folder, modName))
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	for _, s := range siblingsOf(w, m) {
		edit = append(edit, "-dropreplace="+s.Path)
		if !strings.Contains(string(text), s.Path+" "+madeUp) {
			continue
		}
		next, err := changelog.Read(filepath.Join(w.Root, s.Folder))
		if err != nil {
			return fmt.Errorf("%s: the version to require it at: %w", s.Folder, err)
		}
		edit = append(edit, "-require="+s.Path+"@"+next.Version)
	}
	_, err = w.Go(ctx, m.Folder, off, append(edit, modName)...)
	return err
}

// siblingsOf gives every released module of ours but m: one that m needs only
// through another is to be replaced too.
func siblingsOf(w workspace.Workspace, m workspace.Module) []workspace.Module {
	var siblings []workspace.Module
	for _, s := range w.Modules {
		if s.Folder != m.Folder && s.Released() {
			siblings = append(siblings, s)
		}
	}
	return siblings
}

// prepare makes alone.mod and alone.sum in the module's folder; what it gives
// back removes them.
func prepare(ctx context.Context, w workspace.Workspace, m workspace.Module) (cleanUp func(), err error) {
	dir := filepath.Join(w.Root, m.Folder)
	cleanUp = func() {
		os.Remove(filepath.Join(dir, modName))
		os.Remove(filepath.Join(dir, sumName))
	}
	defer func() {
		if err != nil {
			cleanUp()
		}
	}()
	if err := copyFile(filepath.Join(dir, "go.mod"), filepath.Join(dir, modName)); err != nil {
		return nil, err
	}
	err = copyFile(filepath.Join(dir, "go.sum"), filepath.Join(dir, sumName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if m.Folder == "." {
		return cleanUp, nil
	}
	edit := []string{"mod", "edit"}
	for _, s := range siblingsOf(w, m) {
		path, err := filepath.Rel(dir, filepath.Join(w.Root, s.Folder))
		if err != nil {
			return nil, err
		}
		edit = append(edit, "-replace="+s.Path+"="+path)
	}
	_, err = w.Go(ctx, m.Folder, off, append(edit, modName)...)
	return cleanUp, err
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
