package names

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What this package uses of the packages that could resolve or dial. Every
// name of theirs that is not here is refused: the promise is that no query is
// ever sent, and whoever adds one has to come by.
var used = map[string][]string{
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inbox": {"Of"}, // answers who asked
	"net":                  {"Conn", "ErrClosed", "Listener", "PacketConn"},
	"github.com/miekg/dns": {"A", "AAAA", "EDNS0", "EDNS0_EDE", "ExtendedErrorCodeBlocked", "Fqdn", "HINFO", "Msg", "MsgHdr", "OPT", "PTR", "Question", "RR", "RR_Header", "SOA", "TypeOPT", "TypeSOA"},
}

// What else it may import, none of which has a way to the network.
var harmless = []string{"container/list", "encoding/binary", "errors", "fmt", "io", "net/netip", "strconv", "strings", "sync", "syscall", "time"}

func TestNothingHereResolvesOrDials(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files, read := token.NewFileSet(), 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		read++
		local := map[string]string{}
		for _, i := range f.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if i.Name != nil {
				t.Errorf("%s: %s is imported under another name, which this test does not follow", files.Position(i.Pos()), p)
			}
			local[path.Base(p)] = p
			if used[p] == nil && !slices.Contains(harmless, p) {
				t.Errorf("%s: %s is imported", files.Position(i.Pos()), p)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			if names := used[local[x.Name]]; names != nil && !slices.Contains(names, sel.Sel.Name) {
				t.Errorf("%s: %s.%s is used", files.Position(sel.Pos()), local[x.Name], sel.Sel.Name)
			}
			if local[x.Name] == "syscall" && !strings.HasPrefix(sel.Sel.Name, "E") {
				t.Errorf("%s: %s.%s is used", files.Position(sel.Pos()), local[x.Name], sel.Sel.Name)
			}
			return true
		})
	}
	if read < 5 {
		t.Errorf("only %d files of the package were found", read)
	}
}
