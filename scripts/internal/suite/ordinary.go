package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/machine"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/verdict"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// As is the word that makes our own binary start a test binary as another user.
const As = "as"

// An Order says as whom and where a test binary is started.
type Order struct {
	UID, GID int
	Groups   []int
	Env      []string
	// From is the tree that go test runs in; To is the copy of it that the user
	// can read.
	From, To string
}

// Ordinary runs the tests as an ordinary user. Only root can.
func (r *Runner) Ordinary(ctx context.Context, u *machine.User) (verdict.Run, error) {
	run := verdict.Run{Name: u.Name, UID: u.UID}
	packages, err := r.shipped(ctx)
	if err != nil || len(packages) == 0 {
		return run, err
	}
	order, err := r.prepare(ctx, u)
	if err != nil {
		return run, err
	}
	text, err := json.Marshal(order)
	if err != nil {
		return run, err
	}
	if err := os.WriteFile(r.path("order.json"), text, 0o600); err != nil {
		return run, err
	}
	self, err := os.Executable()
	if err != nil {
		return run, err
	}
	starter := fmt.Sprintf("%s %s %s", self, As, r.path("order.json"))
	return r.goTest(ctx, run, nil, []string{"-exec", starter}, packages)
}

// shipped gives the packages but those of the scripts, which do not differ by
// who runs them.
func (r *Runner) shipped(ctx context.Context) ([]string, error) {
	out, err := r.w.Go(ctx, ".", nil, append([]string{"list", "-e"}, r.patterns...)...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Fields(string(out)), ofScripts), nil
}

func ofScripts(importPath string) bool {
	return strings.HasPrefix(importPath, workspace.Prefix+"/scripts")
}

// prepare makes the user's copies and folders, and the order to start tests.
func (r *Runner) prepare(ctx context.Context, u *machine.User) (Order, error) {
	r.before.ordinary = tracesOf(u)
	order := Order{UID: u.UID, GID: u.GID, Groups: u.Groups, From: r.w.Root, To: r.copied()}
	if err := copyTree(r.w.Root, order.To); err != nil {
		return order, err
	}
	if err := r.copyModules(ctx, r.path("m")); err != nil {
		return order, err
	}
	goBin, err := r.reachableGo(ctx)
	if err != nil {
		return order, err
	}
	for _, dir := range []string{r.userTmp(), r.path("c")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return order, err
		}
	}
	for _, dir := range []string{order.To, r.path("m"), r.userTmp(), r.path("c")} {
		if err := give(dir, u.UID, u.GID); err != nil {
			return order, err
		}
	}
	order.Env = append(u.Environment(),
		"TMPDIR="+r.userTmp(),
		// Tests that ask the go command about this tree ask about the copies,
		// and no network.
		"GOCACHE="+r.path("c"),
		"GOMODCACHE="+r.path("m"),
		"GOFLAGS=-buildvcs=false",
		"GOPROXY=off",
		"GOTOOLCHAIN=local",
	)
	for i, v := range order.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			order.Env[i] = "PATH=" + path + ":" + goBin
		}
	}
	order.Env = append(order.Env, r.env...)
	for _, name := range []string{"CI", "LNK_NO_SKIP"} {
		if value, ok := os.LookupEnv(name); ok {
			order.Env = append(order.Env, name+"="+value)
		}
	}
	return order, nil
}

// copied is the copy of the tree that the user sees. It stands alone in its
// folder, as a clone would.
func (r *Runner) copied() string { return filepath.Join(r.path("t"), filepath.Base(r.w.Root)) }

// userTmp is the temporary folder of the ordinary user's tests.
func (r *Runner) userTmp() string { return r.path("u") }

// RunAs carries out an order: it becomes the user, in the copy of the folder it
// was started in, and then the test binary. It returns only an error.
func RunAs(orderFile string, argv []string) error {
	text, err := os.ReadFile(orderFile)
	if err != nil {
		return err
	}
	var order Order
	if err := json.Unmarshal(text, &order); err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	below, err := filepath.Rel(order.From, here)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return fmt.Errorf("%s is not in %s", here, order.From)
	}
	there := filepath.Join(order.To, below)
	// go test keeps its binaries in a folder that only its own user can enter.
	if err := os.Chmod(filepath.Dir(filepath.Dir(argv[0])), 0o711); err != nil {
		return err
	}
	if err := os.Chdir(there); err != nil {
		return err
	}
	if err := syscall.Setgroups(order.Groups); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	if err := syscall.Setgid(order.GID); err != nil {
		return fmt.Errorf("group: %w", err)
	}
	if err := syscall.Setuid(order.UID); err != nil {
		return fmt.Errorf("user: %w", err)
	}
	if order.UID == 0 || os.Getuid() != order.UID || syscall.Setuid(0) == nil {
		return fmt.Errorf("still root")
	}
	return syscall.Exec(argv[0], argv, append(order.Env, "PWD="+there))
}
