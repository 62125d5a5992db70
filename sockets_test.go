package root_test

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// The contract modules are what other programs import: reading a flag or
// checking a route must not bring along code that calls out or starts things.
var contractModules = []string{"measure-contract", "sandbox-route", "sandbox-client"}

// mayCallOut are the files of the contract modules that may open a socket or
// start a process, each for the one function that its contract has for it.
var mayCallOut = []reason{
	{"sandbox-client/wrap.go", "Wrap runs lnk sandbox wrap, and installs the plugin if it is missing"},
	{"sandbox-client/bind_proxy.go", "BindProxy sends one line to a blank proxy's socket"},
	{"sandbox-client/held_port.go", "HeldPort holds a listener from the moment its port is chosen"},
	{"sandbox-client/started_darwin.go", "reads when a process started: sysctl has no other way in without cgo"},
}

// callsOut are packages whose use is to open sockets or start processes.
var callsOut = []string{"net", "net/http", "net/rpc", "net/smtp", "os/exec", "plugin", "log/syslog"}

// startsThings are functions that do, in packages that have good uses too.
var startsThings = map[string][]string{
	"os": {"StartProcess"},
	"syscall": {
		"Socket", "Socketpair", "Connect", "Bind", "Listen", "Accept", "Accept4", "Exec", "ForkExec", "StartProcess",
		"Syscall", "Syscall6", "RawSyscall", "RawSyscall6",
	},
	"golang.org/x/sys/unix": {
		"Socket", "Socketpair", "Connect", "Bind", "Listen", "Accept", "Accept4", "Exec", "Clone",
		"Syscall", "Syscall6", "RawSyscall", "RawSyscall6", "SyscallNoError",
	},
}

// checkCallsOut finds what opens sockets or starts processes in the shipped
// files of the contract modules.
func checkCallsOut(modules []string, may []reason, sources []source) []string {
	var faults []string
	for _, s := range sources {
		if s.test || !slices.Contains(modules, s.module) {
			continue
		}
		if slices.ContainsFunc(may, func(r reason) bool { return r.path == s.name }) {
			continue
		}
		for _, p := range s.importsOf() {
			if slices.Contains(callsOut, p) || strings.HasPrefix(p, "net/http/") {
				faults = append(faults, fmt.Sprintf("%s imports %s, which opens sockets or starts processes", s.name, p))
			}
			for _, name := range usesOf(s, p, startsThings[p]) {
				faults = append(faults, fmt.Sprintf("%s uses %s.%s, which opens sockets or starts processes", s.name, p, name))
			}
		}
	}
	return faults
}

// usesOf gives those of the names that a file uses of a package it imports,
// under whatever name it imports it. A dot import counts as using the first.
func usesOf(s source, importPath string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	local := path.Base(importPath)
	for _, spec := range s.Imports {
		if strings.Trim(spec.Path.Value, "\"`") == importPath && spec.Name != nil {
			local = spec.Name.Name
		}
	}
	if local == "." {
		return names[:1]
	}
	var used []string
	ast.Inspect(s.File, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && x.Name == local && slices.Contains(names, selector.Sel.Name) {
			used = append(used, selector.Sel.Name)
		}
		return true
	})
	return slices.Compact(slices.Sorted(slices.Values(used)))
}

func TestContractModulesCallNothing(t *testing.T) {
	sources := mustSources(t, here())
	for _, module := range contractModules {
		if !slices.ContainsFunc(sources, func(s source) bool { return s.module == module }) {
			t.Errorf("%s has no Go file: nothing would be checked", module)
		}
	}
	for _, may := range mayCallOut {
		if !slices.ContainsFunc(sources, func(s source) bool { return s.name == may.path }) {
			t.Errorf("%s may call out, and is not there: take it out of the list", may.path)
		}
	}
	report(t, checkCallsOut(contractModules, mayCallOut, sources))
}

func TestContractModulesCallNothingFails(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"a socket", "route/a.go", `import "net"; var _ = net.Dial`, []string{"route/a.go", "imports net,"}},
		{"a process", "route/a.go", `import "os/exec"; var _ = exec.Command`, []string{"os/exec"}},
		{"on one system only", "route/a_darwin.go", `import "net/http"; var _ = http.Get`, []string{"a_darwin.go"}},
		{"below net/http", "route/a.go", `import "net/http/httptest"; var _ = httptest.NewServer`, []string{"httptest"}},
		{"by package os", "route/a.go", `import "os"; var _ = os.StartProcess`, []string{"os.StartProcess"}},
		{"under another name", "route/a.go", `import sys "syscall"; var _ = sys.Socket`, []string{"syscall.Socket"}},
		{"under no name", "route/a.go", `import . "syscall"; var _ = Exec`, []string{"syscall"}},
		{"a raw call", "route/a.go", `import "golang.org/x/sys/unix"; var _ = unix.RawSyscall`, []string{"unix.RawSyscall"}},
		{"a file that may", "route/may.go", `import "net"; var _ = net.Dial`, nil},
		{"a test", "route/a_test.go", `import "net"; var _ = net.Dial`, nil},
		{"another module", "proxy/a.go", `import "net"; var _ = net.Dial`, nil},
		{"addresses", "route/a.go", `import "net/netip"; var _ netip.Addr`, nil},
		{"the rest of os", "route/a.go", `import "os"; var _ = os.Open`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := made(map[string]string{
				"route/go.mod": "module route\n",
				"proxy/go.mod": "module proxy\n",
				c.file:         "package p\n\n" + c.text + "\n",
			})
			faults := checkCallsOut([]string{"route"}, []reason{{"route/may.go", ""}}, mustSources(t, tree))
			if c.want == nil {
				report(t, faults)
				return
			}
			wantFault(t, faults, c.want...)
		})
	}
}

// checkBroughtAlong finds packages of others, among what the contract modules
// are built of, that open sockets or start processes themselves.
func checkBroughtAlong(deps []listed) []string {
	var faults []string
	for _, l := range deps {
		if _, mine := ours(l.ImportPath); mine || l.Standard || standard(l.ImportPath) {
			continue
		}
		for _, p := range l.Imports {
			if slices.Contains(callsOut, p) {
				faults = append(faults, fmt.Sprintf("%s brings along %s", l.ImportPath, p))
			}
		}
	}
	return faults
}

func TestContractModulesBringNothingAlong(t *testing.T) {
	for _, module := range contractModules {
		for _, system := range []string{"linux", "darwin"} {
			t.Run(module+"/"+system, func(t *testing.T) {
				report(t, checkBroughtAlong(shippedDepsOf(t, module, system)))
			})
		}
	}
}

func TestContractModulesBringNothingAlongFails(t *testing.T) {
	faults := checkBroughtAlong([]listed{
		{ImportPath: "net/http", Standard: true, Imports: []string{"net"}},
		{ImportPath: prefix + "/sandbox-client", Imports: []string{"net"}},
		{ImportPath: "x.example/quiet", Imports: []string{"strings"}},
		{ImportPath: "x.example/loud", Imports: []string{"net", "strings"}},
	})
	wantFault(t, faults, "x.example/loud", "net")
}
