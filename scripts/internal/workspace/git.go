package workspace

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Git runs git in the repository and gives what it printed, without the space
// around it.
func (w Workspace) Git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = w.Root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Commit gives the commit that is checked out, and whether the tree is as it is.
func (w Workspace) Commit(ctx context.Context) (commit string, clean bool, err error) {
	if commit, err = w.Git(ctx, "rev-parse", "--verify", "HEAD"); err != nil {
		return "", false, err
	}
	status, err := w.Git(ctx, "status", "--porcelain")
	return commit, status == "", err
}

// LastTag gives the highest version that a module is tagged with, vX.Y.Z, or
// "" when it has none.
func (w Workspace) LastTag(ctx context.Context, m Module) (version string, err error) {
	out, err := w.Git(ctx, "tag", "--list", m.Folder+"/v*", "--sort=-version:refname")
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(out, "\n")
	return strings.TrimPrefix(first, m.Folder+"/"), nil
}

// TestedFile is where scripts/test writes down the commit that has passed.
func (w Workspace) TestedFile() string {
	return filepath.Join(w.Root, "bin", "scripts", "tested")
}
