package linuxwall

import "strings"

// Paths here are absolute and clean, as the kernel would print them.

// join puts one name below a folder.
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// parent gives the folder that holds a path; the root holds itself.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// base gives the last name of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// below says whether path lies in dir, and is not dir itself.
func below(path, dir string) bool {
	if dir == "/" {
		return len(path) > 1
	}
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// within says whether path is dir or lies in it.
func within(path, dir string) bool { return path == dir || below(path, dir) }

// comparePaths orders paths so that a folder stands before what lies in it,
// and all of that before anything else: '/' sorts before every other byte.
func comparePaths(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		switch {
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		case a[i] < b[i]:
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}
