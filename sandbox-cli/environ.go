package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// kept are the variables of the caller's environment that `run` passes on.
// Everything else stays outside: an environment is where people keep tokens.
var kept = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "LANG", "TZ",
	"PWD", "EDITOR", "PAGER", "NO_COLOR", "CI",
}

// keptPrefix are kept whatever follows: the locale's categories.
const keptPrefix = "LC_"

func keeps(name string) bool {
	return slices.Contains(kept, name) || strings.HasPrefix(name, keptPrefix)
}

// trust are variables that name files and folders of certificates, which tools
// trust instead of the system's or beside them. Where a company opens TLS, no
// tool works without. They are kept where what they name is in view: some tools
// fail on one that they cannot read.
var trust = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", // OpenSSL, Go, Rust
	"NODE_EXTRA_CA_CERTS", "DENO_CERT", "npm_config_cafile",
	"REQUESTS_CA_BUNDLE", "PIP_CERT", "HTTPLIB2_CA_CERTS", // Python
	"CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "CARGO_HTTP_CAINFO",
	"AWS_CA_BUNDLE", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
}

// readable are folders of certificates that every sandbox sees.
var readable = []string{"/etc", "/usr", "/opt", "/nix", "/gnu/store", "/var/lib/ca-certificates"}

// inView says whether all paths of a list (SSL_CERT_DIR may have several) are
// in one of the folders, or are one.
func inView(list string, folders []string) bool {
	for path := range strings.SplitSeq(list, ":") {
		if !filepath.IsAbs(path) || !slices.ContainsFunc(folders, func(folder string) bool {
			rest, ok := strings.CutPrefix(filepath.Clean(path), strings.TrimSuffix(folder, "/"))
			return ok && (rest == "" || rest[0] == '/')
		}) {
			return false
		}
	}
	return true
}

// notTrusted says which variables of certificates a program with a network does
// not get, since what they name is not in view: its TLS fails where a company
// opens it, and nothing it says leads here.
func notTrusted(c client.Confinement, caller []string, add map[string]string) (lines []string) {
	switch c.Net.Mode().(type) {
	case client.Proxied, client.Host, client.Reaching:
	default:
		return nil
	}
	seen := slices.Concat(c.Read, c.Write, readable)
	for _, v := range caller {
		name, value, _ := strings.Cut(v, "=")
		if _, set := add[name]; set || !slices.Contains(trust, name) || inView(value, seen) {
			continue
		}
		if _, err := os.Stat(value); err == nil && filepath.IsAbs(value) {
			lines = append(lines, fmt.Sprintf("%s is not passed on: %s is not in view; to pass it on: --read %s", name, value, value))
		}
	}
	return lines
}

// withShell has SHELL name a shell that the program has: one in a home folder
// that it does not see (of Nix, Homebrew, conda) is not there, and what starts
// shells by it (tmux, script, vim, agents) would start none.
func withShell(env []string, c client.Confinement, home string) []string {
	i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "SHELL=") })
	if i < 0 || home == "/" || slices.Contains(readable, home) || c.ReadHome || c.DeveloperTools {
		return env
	}
	if shell := env[i][len("SHELL="):]; !inView(shell, []string{home}) || inView(shell, slices.Concat(c.Read, c.Write)) {
		return env
	}
	env = slices.Clone(env)
	env[i] = "SHELL=/bin/sh"
	return env
}

// scrubbed is the environment of a program under `run`: what is kept of the
// caller's, and what the chain adds over it; certificates are kept where they
// are in one of the folders that the program sees. Sorted, so that it is the
// same each time.
func scrubbed(caller []string, add map[string]string, seen ...string) []string {
	env := map[string]string{}
	seen = slices.Concat(seen, readable)
	for _, v := range caller {
		name, value, ok := strings.Cut(v, "=")
		if ok && (keeps(name) || slices.Contains(trust, name) && inView(value, seen)) {
			env[name] = value
		}
	}
	maps.Copy(env, add)
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}
