package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// restricted is 1 where AppArmor refuses user namespaces to programs that have
// no profile which allows them (Ubuntu since 23.10).
const restricted = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// AllowNamespaces lets the programs of a folder make user namespaces where
// AppArmor would refuse them, by a profile that is loaded into the kernel and
// no file of the system's; what it gives back unloads it. Only root can. Where
// nothing is refused it does nothing.
func AllowNamespaces(ctx context.Context, folder string) (undo func() error, err error) {
	value, err := os.ReadFile(restricted)
	if err != nil || strings.TrimSpace(string(value)) != "1" {
		return func() error { return nil }, nil
	}
	text := profile(folder)
	if err := parser(ctx, "--replace", text); err != nil {
		return nil, err
	}
	return func() error { return parser(context.WithoutCancel(ctx), "--remove", text) }, nil
}

// profile confines nothing: it only names the programs, so that the kernel
// lets them have namespaces. What they start keeps it, unless a profile of the
// system's attaches to that.
func profile(folder string) string {
	return fmt.Sprintf(`abi <abi/4.0>,
profile lnk-test-%s %q flags=(unconfined) {
  userns,
}
`, filepath.Base(folder), folder+"/**")
}

func parser(ctx context.Context, verb, text string) error {
	cmd := exec.CommandContext(ctx, "apparmor_parser", "--skip-cache", verb)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apparmor_parser %s: %w: %s", verb, err, out)
	}
	return nil
}
