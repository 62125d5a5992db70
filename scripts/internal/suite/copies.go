package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// copyTree copies the tree as it stands, without what git and the build keep
// for themselves.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		switch {
		case below == ".git" || below == "bin":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type() == fs.ModeSymlink:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case d.Type().IsRegular():
			return copyFile(name, target)
		}
		return nil
	})
}

// copyFile copies a file so that everybody can read it, and run it if its owner
// could.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644|info.Mode()&0o100>>6*0o111)
}

// A module is what "go list" says of a package's module.
type module struct {
	Main   bool
	Dir    string
	Module *module
}

// copyModules copies the modules of others that the workspace is built of, and
// what the go command knows of the rest of them, out of the module cache.
func (r *Runner) copyModules(ctx context.Context, to string) error {
	out, err := r.w.Go(ctx, ".", nil, "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	cache := strings.TrimSpace(string(out))
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	used := map[string]bool{}
	for _, system := range []string{"linux", "darwin"} {
		out, err := r.w.Go(ctx, ".", []string{"GOOS=" + system, "CGO_ENABLED=0"}, "list", "-e", "-deps", "-test", "-json=Module", "work")
		if err != nil {
			return err
		}
		err = each(out, func(m module) {
			if m.Module != nil && !m.Module.Main && m.Module.Dir != "" {
				used[m.Module.Dir] = true
			}
		})
		if err != nil {
			return err
		}
	}
	for dir := range used {
		if err := copyBelow(cache, dir, to); err != nil {
			return err
		}
	}
	return r.copyGraph(ctx, cache, to)
}

// copyGraph copies the go.mod of every module and version that the workspace's
// requirements lead to: the go command reads them all to choose versions.
func (r *Runner) copyGraph(ctx context.Context, cache, to string) error {
	out, err := r.w.Go(ctx, ".", nil, "mod", "graph")
	if err != nil {
		return err
	}
	nodes := strings.Fields(string(out))
	slices.Sort(nodes)
	for _, node := range slices.Compact(nodes) {
		path, version, found := strings.Cut(node, "@")
		if !found || path == "go" || path == "toolchain" {
			continue
		}
		at := filepath.Join(cache, "cache", "download", escaped(path), "@v", escaped(version))
		for _, kind := range []string{".mod", ".info", ".ziphash"} {
			if err := copyBelow(cache, at+kind, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// escaped writes a module's path or version as the module cache does, which
// may lie on a disk that knows no case: capitals as "!" and the small letter.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range text {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('!')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// each decodes the objects that "go list -json" prints.
func each(out []byte, take func(module)) error {
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m module
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		take(m)
	}
}

// copyBelow copies a file or folder of one folder to the same place in another.
func copyBelow(from, name, to string) error {
	below, err := filepath.Rel(from, name)
	if err != nil {
		return err
	}
	if strings.HasPrefix(below, "../") {
		return nil // not of the cache: a module replaced by a folder
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	target := filepath.Join(to, below)
	if info.IsDir() {
		return os.CopyFS(target, os.DirFS(name))
	}
	return copyFile(name, target)
}

// reachableGo gives a folder with a go command that every user can start: our
// own, or a copy where ours lies in a closed folder.
func (r *Runner) reachableGo(ctx context.Context) (string, error) {
	out, err := r.w.Go(ctx, ".", nil, "env", "GOROOT")
	if err != nil {
		return "", err
	}
	root := strings.TrimSpace(string(out))
	if !open(root) {
		if err := os.CopyFS(r.path("go"), os.DirFS(root)); err != nil {
			return "", err
		}
		root = r.path("go")
	}
	return filepath.Join(root, "bin"), nil
}

// open says whether everybody can enter a folder.
func open(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o005 != 0o005 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// give makes a folder and all below it a user's. Links are not followed.
func give(dir string, uid, gid int) error {
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, uid, gid)
	})
}
