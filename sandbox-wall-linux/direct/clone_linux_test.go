package direct

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// Where every signal is blocked nothing is called that Go could have stand still:
// who stops all threads then waits for a signal that is never taken, and a start
// does so (inside.Enter) beside the clone.
func TestNothingStandsStillWithSignalsBlocked(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "clone_linux.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	calm := []string{"uintptr", "syscall.RawSyscall6", "unsafe.Pointer"} // what cannot be stopped
	var within []*ast.FuncDecl                                           // what is called with signals blocked
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		switch {
		case !is:
		case f.Body == nil:
			calm = append(calm, f.Name.Name) // assembly
		case f.Name.Name == "blocked", f.Name.Name == "setMask":
			calm, within = append(calm, f.Name.Name), append(within, f)
		case slices.Contains(namesIn(f), "unix.SYS_RT_SIGPROCMASK"), slices.Contains(namesIn(f), "setMask"):
			t.Errorf("%s blocks signals, and is looked at by nobody", f.Name.Name)
		}
	}
	if len(within) != 2 {
		t.Fatalf("%d functions, want blocked and setMask", len(within))
	}
	for _, f := range within {
		if f.Doc == nil || !slices.ContainsFunc(f.Doc.List, func(c *ast.Comment) bool { return c.Text == "//go:nosplit" }) {
			t.Errorf("%s can grow its stack, and so be stopped", f.Name.Name)
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if called := named(n.Fun); !slices.Contains(calm, called) {
					t.Errorf("%s calls %q: it can be stopped there", f.Name.Name, called)
				}
			case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt, *ast.DeferStmt, *ast.GoStmt:
				t.Errorf("%s has a %T: it can be stopped there", f.Name.Name, n)
			}
			return true
		})
	}
}

func namesIn(f *ast.FuncDecl) (names []string) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if e, is := n.(ast.Expr); is {
			names = append(names, named(e))
		}
		return true
	})
	return names
}

// named gives a name as it stands in the source, or nothing.
func named(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return strings.TrimPrefix(named(e.X)+"."+e.Sel.Name, ".")
	}
	return ""
}
