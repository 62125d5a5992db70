package stages

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/gitread"
)

const (
	// maxIndexRead bounds the index that is read for submodules, and
	// maxLinksRead the submodules that are looked at.
	maxIndexRead = 256 << 20
	maxLinksRead = 4096
)

// asSubmodule says of a repository that was made, by the path of its .git, in
// which repository's index it is a submodule: git status there starts git in it,
// with the configuration that the program wrote. roots are the folders that the
// program wrote in.
func asSubmodule(dotGit string, roots []string) (top, path string) {
	at := filepath.Dir(dotGit)
	for up := filepath.Dir(at); ; up = filepath.Dir(up) {
		if !slices.ContainsFunc(roots, func(root string) bool { return up == root || strings.HasPrefix(up, root+"/") }) {
			return "", "" // it cannot be added to an index above
		}
		rel, err := filepath.Rel(up, at)
		if err != nil {
			return "", ""
		}
		for _, hash := range []int{20, 32} { // SHA-1, and extensions.objectFormat sha256
			if slices.Contains(linksOf(filepath.Join(up, ".git", "index"), hash), rel) {
				return up, rel
			}
		}
	}
}

// linksOf are the submodules of an index that the program may have written.
func linksOf(index string, hash int) []string {
	f, size := openPlain(index)
	if f == nil {
		return nil
	}
	defer f.Close()
	if size > maxIndexRead {
		return nil
	}
	paths, _, shared, _ := gitread.Gitlinks(f, size, hash, maxLinksRead)
	if shared != "" && filepath.Base(index) == "index" {
		paths = append(paths, linksOf(filepath.Join(filepath.Dir(index), "sharedindex."+shared), hash)...)
	}
	return paths
}

// submoduleLine is what is told of it.
func submoduleLine(dotGit, top, path string) string {
	return fmt.Sprintf("%s was made while the sandbox ran, and the index of %s names it as a submodule: git status there would start git in it: "+
		"look at it, or take it out first: git -C %s update-index --force-remove -- %s", quoted(dotGit), quoted(top), quoted(top), quoted(path))
}

// quoted is a word as a shell reads it, and as one that the program chose stands
// in a line of ours.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+@%:,", c))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// todosIn gives what rebases that are under way will do, of the repositories at
// the top of the written folders, by the path as stat(2) has it: git rebase
// --continue executes the lines that begin with exec.
func todosIn(roots []string, writable func(string) bool) map[string]unix.Stat_t {
	all := map[string]unix.Stat_t{}
	for _, root := range roots {
		for _, pattern := range []string{"rebase-merge", "worktrees/*/rebase-merge"} {
			found, _ := filepath.Glob(filepath.Join(escaped(root), ".git", pattern, "git-rebase-todo"))
			for _, at := range found {
				var st unix.Stat_t
				if len(all) < maxLinksRead && writable(at) && unix.Lstat(at, &st) == nil {
					st.Atim = unix.Timespec{}
					all[at] = st
				}
			}
		}
	}
	return all
}

// escaped is a path that filepath.Glob takes for itself.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// newOnes are those that were made or changed, in the order of their paths.
func newOnes(before, after map[string]unix.Stat_t) []string {
	var all []string
	for path, now := range after {
		if was, there := before[path]; !there || was != now {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return all
}

// todoLine is what is told of one.
func todoLine(path string) string {
	return quoted(path) + " is of this run: git rebase --continue executes what it says: look at it, or give the rebase up: git rebase --abort"
}
