package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/changelog"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// A Comparer compares modules with their last release.
type Comparer struct {
	w    workspace.Workspace
	tool string
}

// NewComparer builds the tool that compares.
func NewComparer(ctx context.Context, w workspace.Workspace) (*Comparer, error) {
	tool, err := w.Tool(ctx, "golang.org/x/exp/cmd/apidiff")
	return &Comparer{w, tool}, err
}

// A Report is what a comparison found.
type Report struct {
	// Last is the version compared with; "" when there is none yet.
	Last string
	// Next is the version on top of the changelog.
	Next string
	// Breaks says what users of the last version would have to change; "" is
	// nothing.
	Breaks string
}

// Err says that the breaks may not be released as the next version.
func (r Report) Err() error {
	if r.Last == "" || r.Breaks == "" || changelog.Allows(r.Last, r.Next) {
		return nil
	}
	return fmt.Errorf("breaks what %s promised, which %s may not:\n%s", r.Last, r.Next, r.Breaks)
}

// Compare compares a module as it stands with its last release.
func (c *Comparer) Compare(ctx context.Context, m workspace.Module) (Report, error) {
	var report Report
	next, err := changelog.Read(filepath.Join(c.w.Root, m.Folder))
	if err != nil {
		return report, err
	}
	report.Next = next.Version
	if report.Last, err = c.w.LastTag(ctx, m); err != nil || report.Last == "" {
		return report, err
	}
	dir, err := os.MkdirTemp("", "check-api-")
	if err != nil {
		return report, err
	}
	defer os.RemoveAll(dir)
	// The whole tree as it was, so that the siblings are those of that day.
	tar := filepath.Join(dir, "tree.tar")
	if _, err := c.w.Git(ctx, "archive", "--format=tar", "--output="+tar, m.Folder+"/"+report.Last); err != nil {
		return report, err
	}
	if out, err := exec.CommandContext(ctx, "tar", "-x", "-f", tar, "-C", dir).CombinedOutput(); err != nil {
		return report, fmt.Errorf("tar: %w: %s", err, out)
	}
	// What differs by system is compared on each.
	var breaks []string
	for _, system := range []string{"linux", "darwin"} {
		export := filepath.Join(dir, "last."+system)
		if _, err := c.run(ctx, filepath.Join(dir, m.Folder), system, "-m", "-w", export, m.Path); err != nil {
			return report, fmt.Errorf("%s as it was: %w", m.Folder, err)
		}
		found, err := c.run(ctx, filepath.Join(c.w.Root, m.Folder), system, "-m", "-incompatible", export, m.Path)
		if err != nil {
			return report, err
		}
		if found != "" {
			breaks = append(breaks, system+":\n"+found)
		}
	}
	report.Breaks = strings.Join(breaks, "\n")
	return report, nil
}

// run runs the tool. It exits with 0 whatever it finds: what it prints counts.
func (c *Comparer) run(ctx context.Context, dir, system string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0", "PWD="+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("apidiff %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	if said := stderr.String(); strings.Contains(said, "error") {
		return "", errors.New("apidiff: " + said)
	}
	return strings.TrimSpace(string(out)), nil
}
