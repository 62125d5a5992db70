package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Prefix starts the path of every module of the repository.
const Prefix = "github.com/lnkhq/lnk-sandbox"

// Tools is the folder of the module that pins the tools. It is no part of the
// workspace.
const Tools = "scripts/tools"

// A Module is one module of the workspace.
type Module struct {
	// Folder is its folder from the root, slashes in it; the root's is ".".
	Folder string
	// Path is its module path.
	Path string
	// Siblings are the folders of those of our modules that its go.mod
	// requires, each at its version.
	Siblings map[string]string
}

// Released says whether the module is ever given a version: the root and the
// scripts are not.
func (m Module) Released() bool { return m.Folder != "." && m.Folder != "scripts" }

// A Workspace is the repository.
type Workspace struct {
	// Root is its folder, absolute.
	Root string
	// Modules are those that go.work uses, in its order.
	Modules []Module
}

// Find looks for the repository from a folder upwards.
func Find(from string) (Workspace, error) {
	dir, err := filepath.Abs(from)
	if err != nil {
		return Workspace{}, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return read(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return Workspace{}, fmt.Errorf("%s: no go.work in it or above it: run this in the repository", from)
		}
		dir = up
	}
}

// read reads go.work, and each go.mod that it uses.
func read(root string) (Workspace, error) {
	w := Workspace{Root: root}
	var work struct{ Use []struct{ DiskPath string } }
	if err := w.edited(&work, "work", "go.work"); err != nil {
		return w, err
	}
	for _, use := range work.Use {
		folder := filepath.ToSlash(filepath.Clean(use.DiskPath))
		m, err := w.module(folder)
		if err != nil {
			return w, err
		}
		w.Modules = append(w.Modules, m)
	}
	if len(w.Modules) == 0 {
		return w, errors.New("go.work: it uses no module")
	}
	return w, nil
}

func (w Workspace) module(folder string) (Module, error) {
	var mod struct {
		Module  struct{ Path string }
		Require []struct{ Path, Version string }
	}
	if err := w.edited(&mod, "mod", filepath.Join(folder, "go.mod")); err != nil {
		return Module{}, err
	}
	m := Module{Folder: folder, Path: mod.Module.Path, Siblings: map[string]string{}}
	for _, r := range mod.Require {
		if sibling, ok := strings.CutPrefix(r.Path, Prefix+"/"); ok {
			m.Siblings[sibling] = r.Version
		}
	}
	return m, nil
}

// edited has the go command print a go.mod or go.work as JSON.
func (w Workspace) edited(into any, verb, name string) error {
	out, err := w.Go(context.Background(), ".", []string{"GOWORK=off"}, verb, "edit", "-json", filepath.Join(w.Root, name))
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// Command is the go command in a folder of the repository, with variables
// beside those of our own environment.
func (w Workspace) Command(ctx context.Context, folder string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(w.Root, folder)
	cmd.Env = append(os.Environ(), "PWD="+cmd.Dir)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// Go runs the go command in a folder and gives what it printed; its error says
// what the command said.
func (w Workspace) Go(ctx context.Context, folder string, env []string, args ...string) ([]byte, error) {
	var stderr strings.Builder
	cmd := w.Command(ctx, folder, env, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		said := strings.TrimSpace(stderr.String() + "\n" + string(out))
		return out, fmt.Errorf("%s: go %s: %w\n%s", folder, strings.Join(args, " "), err, said)
	}
	return out, nil
}

// Tool builds a tool of the tools' module and gives the path of its binary.
func (w Workspace) Tool(ctx context.Context, importPath string) (string, error) {
	binary := filepath.Join(w.Root, "bin", "scripts", filepath.Base(importPath))
	_, err := w.Go(ctx, Tools, []string{"GOWORK=off"}, "build", "-buildvcs=false", "-o", binary, importPath)
	return binary, err
}

// InOrder gives the modules so that each stands behind the siblings it
// requires.
func (w Workspace) InOrder() ([]Module, error) {
	var ordered []Module
	placed := map[string]bool{}
	for len(ordered) < len(w.Modules) {
		before := len(ordered)
		for _, m := range w.Modules {
			ready := !slices.ContainsFunc(w.Modules, func(s Module) bool {
				_, needs := m.Siblings[s.Folder]
				return needs && !placed[s.Folder]
			})
			if ready && !placed[m.Folder] {
				placed[m.Folder] = true
				ordered = append(ordered, m)
			}
		}
		if len(ordered) == before {
			return nil, errors.New("the modules require each other in a circle")
		}
	}
	return ordered, nil
}
