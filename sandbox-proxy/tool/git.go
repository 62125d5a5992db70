package tool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
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

// gitGuard is the environment that does so, with the folders that are safe and
// no others: the empty one ends what was said of them before (git-config(1)).
func gitGuard(dirs []string) []string {
	settings := [][2]string{{"safe.bareRepository", "explicit"}, {"safe.directory", ""}}
	for _, dir := range dirs {
		settings = append(settings, [2]string{"safe.directory", dir})
	}
	env := []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings))}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	return env
}

// trusted gives, of the folders that the program cannot have made, those whose
// repository git would take: its own rule, that it is this user's, holds for
// them as ever, and so does what the user has said of them. What the user named
// beside is safe too; a star is not, since it would be said of what the program
// makes as well.
func trusted(safe, said []string, mine func(dir string) bool) []string {
	all := slices.DeleteFunc(slices.Clone(safe), func(dir string) bool {
		return !mine(dir) && !slices.ContainsFunc(said, func(s string) bool {
			top, star := strings.CutSuffix(s, "*")
			return s == dir || star && (top == "" || strings.HasSuffix(top, "/") && strings.HasPrefix(dir, top))
		})
	})
	for _, s := range said {
		if !strings.HasSuffix(s, "*") && (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/")) {
			all = append(all, s)
		}
	}
	return all
}

// isMine is git's own rule of a repository (safe.directory, git-config(1)): the
// folder and what makes it a repository are this user's.
func isMine(dir string) bool {
	for _, p := range []string{dir, filepath.Join(dir, ".git")} {
		info, err := os.Lstat(p)
		if err != nil {
			return false
		}
		if st, is := info.Sys().(*syscall.Stat_t); !is || int(st.Uid) != os.Geteuid() {
			return false
		}
	}
	return true
}

// sayTime bounds git's answer to what the user has said.
const sayTime = 5 * time.Second

// gitSaid is what the user's and the machine's configuration say of
// safe.directory. An answer that does not come is none.
func (h *Host) gitSaid() []string {
	git := h.Find("git")
	if git == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(h.ctx, sayTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, git, "config", "-z", "--get-all", "safe.directory")
	cmd.Dir, cmd.Env = "/", append(slices.Clip(h.environ), "GIT_DIR=/dev/null/none") // no repository's
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	said := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if ends := lastIndex(said, ""); ends >= 0 {
		said = said[ends+1:]
	}
	return said
}

func lastIndex(all []string, s string) int {
	for i, v := range slices.Backward(all) {
		if v == s {
			return i
		}
	}
	return -1
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
