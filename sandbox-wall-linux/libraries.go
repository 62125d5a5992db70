package linuxwall

import "strings"

// libraryFolders are where systems keep libraries, and programs beside them.
var libraryFolders = []string{
	"/lib", "/lib32", "/lib64", "/libx32",
	"/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib", "/usr/local/lib64",
}

// libraries adds what programs map as code without executing it: the folders
// in which the C library or others by the system's name lie, of the rest those
// of the programs that are named (/usr/lib/python3.11 for python3), and what
// lies beside a program that brings its own. Where it falls short a program
// says that it cannot map a library, and its folder can be named.
func (o *only) libraries() {
	for _, top := range libraryFolders {
		n := o.t.node(top)
		if n.Kind != Folder || o.above(top).kind != readOnly {
			continue
		}
		names, whole := o.t.names(top)
		if !whole || !strings.HasSuffix(top, "/lib") || strings.HasPrefix(top, "/usr/local") || anyLibc(names) {
			o.code[top] = n
			continue
		}
		for _, name := range names {
			at := join(top, name)
			switch n := o.t.node(at); {
			case n.Kind == File && strings.Contains(name, ".so"),
				n.Kind == Folder && (strings.Contains(name, "-linux-") || o.ofProgram(name)):
				o.code[at] = n
			}
		}
	}
	for at, n := range o.run {
		if n.Kind == File {
			o.beside(at)
		}
	}
}

// anyLibc tells a folder in which the C library lies.
func anyLibc(names []string) bool {
	for _, n := range names {
		if strings.HasPrefix(n, "libc.so") || strings.HasPrefix(n, "ld-musl-") {
			return true
		}
	}
	return false
}

// ofProgram says whether a folder is called as a program that may be executed,
// versions left out.
func (o *only) ofProgram(folder string) bool {
	for at, n := range o.run {
		stem := strings.TrimRight(base(at), "0123456789.-")
		if n.Kind == File && len(stem) >= 3 && strings.HasPrefix(folder, stem) {
			return true
		}
	}
	return false
}

// beside adds libraries that lie with a program: in its own folder, or in lib
// beside its bin.
func (o *only) beside(program string) {
	dir := parent(program)
	if name := base(dir); name == "bin" || name == "sbin" {
		for _, lib := range []string{"lib", "lib64"} {
			at := join(parent(dir), lib)
			if n := o.t.node(at); n.Kind == Folder && !isLibraryFolder(at) && o.readable(at) {
				o.code[at] = n
			}
		}
		return
	}
	names, _ := o.t.names(dir)
	for _, name := range names {
		if at := join(dir, name); strings.Contains(name, ".so") && o.readable(at) {
			if n := o.t.node(at); n.Kind == File {
				o.code[at] = n
			}
		}
	}
}

func isLibraryFolder(at string) bool {
	for _, top := range libraryFolders {
		if at == top {
			return true
		}
	}
	return false
}

// readable says whether a path is this machine's, and is not written.
func (o *only) readable(at string) bool { return o.above(at).kind == readOnly }
