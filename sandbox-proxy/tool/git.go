package tool

import (
	"fmt"
	"path/filepath"
	"slices"
)

// git takes orders from the configuration of the repository that it finds
// itself in (programs to run among them), and many tools start it. The wall
// keeps the repository at the top of a written folder; one below it the program
// can make at any moment, also after its call was judged. So a tool that starts
// in such a folder is given git's own guards (git-config(1)): a bare repository
// only where it is named (safe.bareRepository), and others only where the
// program cannot write their configuration (safe.directory), which git asks
// about repositories of other owners. The last variable has it take every owner
// for another; git knows it since 2.35.2, as it knows safe.directory.

// gitGuard is the environment that does so. kept are written folders whose
// repository's configuration the wall keeps.
func gitGuard(written, kept []string) []string {
	settings := [][2]string{{"safe.bareRepository", "explicit"}}
	for _, dir := range safe(written, kept) {
		settings = append(settings, [2]string{"safe.directory", dir})
	}
	env := []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings))}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	return env
}

// safe gives the folders whose repositories the program cannot have made: kept
// ones, and those above that are in nothing that is written.
func safe(written, kept []string) []string {
	dirs := slices.Clone(kept)
	for _, w := range written {
		for dir := filepath.Dir(w); dir != "/"; dir = filepath.Dir(dir) {
			inWritten := slices.ContainsFunc(written, func(other string) bool { _, in := within(dir, other); return in })
			if !inWritten && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}
