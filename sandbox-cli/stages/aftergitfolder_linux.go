package stages

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/gitread"
)

// A repository's own folder that the program writes (write_dot_files) keeps its
// hooks and its configuration, and there is more in it that git believes: it
// writes through a link that stands where it has a file, and it checks files out
// to where the index says.

const (
	// maxGitFolder bounds the names that are looked at in one such folder.
	maxGitFolder = 1 << 16
	// maxGitConfig bounds its configuration.
	maxGitConfig = 64 << 10
	// maxIndexesRead bounds what is read of all indexes together.
	maxIndexesRead = 2 * maxIndexRead
	// maxStrays is how many names of one index are told.
	maxStrays = 3
)

// openedGit gives the repositories' own folders that the program writes, of those
// that are there.
func openedGit(plan *linuxwall.Plan, writable func(string) bool) []string {
	var all []string
	add := func(dir string) {
		info, err := os.Lstat(filepath.Join(dir, "objects"))
		if head, e := os.Lstat(filepath.Join(dir, "HEAD")); err != nil || e != nil || !info.IsDir() || head.IsDir() {
			return
		}
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && writable(filepath.Join(dir, "index")) && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	for _, s := range plan.Steps {
		if s.Verb == linuxwall.Write {
			add(s.At)
			add(filepath.Join(s.At, ".git"))
		}
	}
	return all
}

// linksIn gives the links in such folders, by their path, as stat(2) has them;
// git makes none. whole is whether all was looked at. What is in a folder of
// objects is named by what it holds, and is left out.
func linksIn(dirs []string) (links map[string]unix.Stat_t, whole bool) {
	links, whole = map[string]unix.Stat_t{}, true
	for _, dir := range dirs {
		seen := 0
		_ = filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
			if seen++; seen > maxGitFolder {
				whole = false
				return fs.SkipAll
			}
			switch {
			case err != nil:
				whole = false // shut by the program
			case e.IsDir() && at != dir && slices.Contains(dirs, at), // which is looked at by itself
				e.IsDir() && len(e.Name()) == 2 && filepath.Dir(at) == filepath.Join(dir, "objects"):
				return fs.SkipDir
			case e.Type()&fs.ModeSymlink != 0:
				var st unix.Stat_t
				if unix.Lstat(at, &st) == nil {
					st.Atim = unix.Timespec{}
					links[at] = st
				}
			}
			return nil
		})
	}
	return links, whole
}

// linkLine is what is told of one.
func linkLine(path string) string {
	to, _ := os.Readlink(path)
	return fmt.Sprintf("%s is a link of this run, and git would write through it, to %s: take it away before you use git there: rm -- %s", quoted(path), quoted(to), quoted(path))
}

// strayLines are what is told of the indexes in such folders.
func strayLines(dirs []string) []string {
	var lines []string
	left := int64(maxIndexesRead)
	for _, dir := range dirs {
		hash := 20
		entries, _ := gitread.Config(string(readNoMore(filepath.Join(dir, "config"), maxGitConfig)))
		for _, e := range entries {
			if e.Name() == "extensions.objectformat" && strings.EqualFold(e.Value, "sha256") {
				hash = 32
			}
		}
		indexes := []string{filepath.Join(dir, "index")}
		of, _ := filepath.Glob(filepath.Join(escaped(dir), "worktrees", "*", "index"))
		for _, index := range append(indexes, of[:min(len(of), maxLinksRead)]...) {
			away := "take it away before you use git there (git reset makes it anew): rm -- " + quoted(index)
			names, why := straysOf(index, hash, &left)
			switch {
			case why != "":
				lines = append(lines, fmt.Sprintf("%s %s: %s", quoted(index), why, away))
			case len(names) > 0:
				for i, name := range names {
					names[i] = quoted(name)
				}
				lines = append(lines, fmt.Sprintf("%s names %s, and git checkout and git restore would write there: %s", quoted(index), strings.Join(names, ", "), away))
			}
		}
	}
	return lines
}

// straysOf gives names in an index that git itself puts in none, and why it
// cannot be looked through. left is how much may be read, of it and others.
func straysOf(index string, hash int, left *int64) (names []string, why string) {
	for at := index; at != ""; {
		var st unix.Stat_t
		if unix.Lstat(at, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return names, "" // none, or told as a link
		}
		f, size := openPlain(at)
		if f == nil || size > min(maxIndexRead, *left) {
			if f != nil {
				f.Close()
			}
			return nil, "is not an index that can be looked through"
		}
		*left -= size
		more, shared, err := gitread.Strays(f, size, hash, maxStrays)
		f.Close()
		if err != nil {
			return nil, "is not an index as git writes it"
		}
		names = append(names, more...)
		if at != index || shared == "" || len(names) > 0 {
			break
		}
		at = filepath.Join(filepath.Dir(index), "sharedindex."+shared)
	}
	return names, ""
}

// openPlain opens a file that the program may have put there, if it is one.
func openPlain(path string) (*os.File, int64) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, 0
	}
	return f, info.Size()
}

func readNoMore(path string, most int64) []byte {
	f, size := openPlain(path)
	if f == nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, min(size, most))
	n, _ := f.ReadAt(b, 0)
	return b[:n]
}
