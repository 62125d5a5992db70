package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/changelog"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// A Tag is one that is to be made.
type Tag struct {
	// Name is <folder>/vX.Y.Z, as the go command wants it of a module in a
	// folder.
	Name string
	// Message is what the changelog says of the version.
	Message string
}

// A Plan is what is to be tagged, modules behind those they require, and what
// stands in the way.
type Plan struct {
	Commit   string
	Tags     []Tag
	Problems []string
}

// A Check is something that must be good of a module that is to be tagged.
type Check func(context.Context, workspace.Module) error

// Make makes the plan.
func Make(ctx context.Context, w workspace.Workspace, checks ...Check) (Plan, error) {
	var p Plan
	commit, clean, err := w.Commit(ctx)
	if err != nil {
		return p, err
	}
	p.Commit = commit
	if !clean {
		p.problem("the work tree differs from its commit: commit or set aside what is changed")
	}
	if branch, err := w.Git(ctx, "rev-parse", "--abbrev-ref", "HEAD"); err != nil {
		return p, err
	} else if branch != "main" {
		p.problem("%s is checked out: releases are made of main", branch)
	}
	if tested, err := os.ReadFile(w.TestedFile()); err != nil || strings.TrimSpace(string(tested)) != commit {
		p.problem("scripts/test has not passed for %.12s: run it", commit)
	}
	modules, err := w.InOrder()
	if err != nil {
		return p, err
	}
	for _, m := range modules {
		if !m.Released() {
			continue
		}
		if err := p.add(ctx, w, m, checks); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *Plan) problem(format string, args ...any) {
	p.Problems = append(p.Problems, fmt.Sprintf(format, args...))
}

// add adds one module's tag, if its changelog has a version that has none.
func (p *Plan) add(ctx context.Context, w workspace.Workspace, m workspace.Module, checks []Check) error {
	next, err := changelog.Read(filepath.Join(w.Root, m.Folder))
	if err != nil {
		p.problem("%v", err)
		return nil
	}
	last, err := w.LastTag(ctx, m)
	if err != nil {
		return err
	}
	name := m.Folder + "/" + next.Version
	if next.Version == last {
		changed, err := w.Git(ctx, "diff", "--name-only", name, "HEAD", "--", m.Folder)
		if err != nil {
			return err
		}
		if changed != "" {
			p.problem("%s has changed since %s: give its changelog a new version", m.Folder, last)
		}
		return nil
	}
	if last != "" && !changelog.Higher(next.Version, last) {
		p.problem("%s: %s is not higher than %s, its last", m.Folder, next.Version, last)
	}
	if next.Day == "" {
		p.problem("%s: its changelog says that %s is unreleased: write the day there", m.Folder, next.Version)
	}
	for _, s := range w.Modules {
		required, ok := m.Siblings[s.Folder]
		if !ok {
			continue
		}
		if sibling, err := changelog.Read(filepath.Join(w.Root, s.Folder)); err == nil && sibling.Version != required {
			p.problem("%s requires %s at %s, whose changelog has %s on top", m.Folder, s.Folder, required, sibling.Version)
		}
	}
	for _, check := range checks {
		if err := check(ctx, m); err != nil {
			p.problem("%s: %v", m.Folder, err)
		}
	}
	p.Tags = append(p.Tags, Tag{name, m.Folder + " " + next.Version + "\n\n" + next.Text + "\n"})
	return nil
}

// Do makes the tags, all or none.
func (p Plan) Do(ctx context.Context, w workspace.Workspace) error {
	if len(p.Problems) > 0 {
		return errors.New("the plan has problems: nothing was tagged")
	}
	for i, tag := range p.Tags {
		if _, err := w.Git(ctx, "tag", "--annotate", "--cleanup=whitespace", "--message="+tag.Message, tag.Name, p.Commit); err != nil {
			for _, made := range p.Tags[:i] {
				if _, undo := w.Git(context.WithoutCancel(ctx), "tag", "--delete", made.Name); undo != nil {
					err = errors.Join(err, undo)
				}
			}
			return err
		}
	}
	return nil
}

// PushCommand is what a person then runs.
func (p Plan) PushCommand() string {
	argv := []string{"git push --atomic origin main"}
	for _, tag := range p.Tags {
		argv = append(argv, tag.Name)
	}
	return strings.Join(argv, " ")
}
