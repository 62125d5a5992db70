package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// driven is imported by tests that start the binaries and watch them from
// outside. The detector sees nothing of those processes, and twice the time.
const driven = "/sandbox-cli/labtest"

// concurrent gives the packages that start goroutines, in what they ship or in
// their tests: a race needs two.
func (r *Runner) concurrent(ctx context.Context) ([]string, error) {
	out, err := r.w.Go(ctx, ".", nil, append([]string{"list", "-e", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,XTestImports"}, r.patterns...)...)
	if err != nil {
		return nil, err
	}
	var packages []string
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir                    string
			GoFiles, TestGoFiles, XTestGoFiles []string
			XTestImports                       []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 || ofScripts(p.ImportPath) {
			continue
		}
		if slices.ContainsFunc(p.XTestImports, func(path string) bool { return strings.HasSuffix(path, driven) }) {
			continue
		}
		starts, err := startsGoroutines(p.Dir, slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles))
		if err != nil {
			return nil, err
		}
		if starts {
			packages = append(packages, p.ImportPath)
		}
	}
}

// startsThem are packages whose use starts goroutines with no go statement here.
var startsThem = []string{"net/http", "net/http/httptest", "golang.org/x/sync/errgroup"}

// startsGoroutines says whether one of the files has a go statement, calls
// WaitGroup's Go, marks a test parallel, or imports what starts goroutines.
func startsGoroutines(dir string, names []string) (bool, error) {
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		for _, spec := range file.Imports {
			if slices.Contains(startsThem, strings.Trim(spec.Path.Value, "\"`")) {
				return true, nil
			}
		}
		found := false
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = true
			case *ast.CallExpr:
				if called, ok := n.Fun.(*ast.SelectorExpr); ok {
					found = found || called.Sel.Name == "Go" || called.Sel.Name == "Parallel"
				}
			}
			return !found
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}
