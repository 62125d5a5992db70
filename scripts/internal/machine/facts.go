package machine

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/verdict"
)

// optional are programs that a test may do without.
var optional = []string{"srt", "docker", "firejail"}

// Facts reads what this machine has.
func Facts() verdict.Facts {
	f := verdict.Facts{
		Landlock: landlock(),
		Has: map[string]bool{
			"amd64":    runtime.GOARCH == "amd64",
			"macos":    runtime.GOOS == "darwin",
			"linux":    runtime.GOOS == "linux",
			"apparmor": there("/sys/kernel/security/apparmor"),
			"ipv6":     there("/proc/net/if_inet6"),
		},
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		f.Kernel = kernel(string(release))
	}
	for _, name := range optional {
		_, err := exec.LookPath(name)
		f.Has["program "+name] = err == nil
	}
	for _, p := range Needed {
		f.Has["program "+p.Name] = find(p.Name, ordinaryPath)
	}
	return f
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var release = regexp.MustCompile(`^(\d+)\.(\d+)`)

// kernel reads the first two numbers of a kernel's release, "6.1.0-18-amd64".
func kernel(text string) [2]int {
	found := release.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return [2]int{}
	}
	major, _ := strconv.Atoi(found[1]) // digits, as the expression has it
	minor, _ := strconv.Atoi(found[2])
	return [2]int{major, minor}
}
