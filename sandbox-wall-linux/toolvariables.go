package linuxwall

import "strings"

// toolVariables name where a person moved a toolchain to. Each counts where it
// names a folder in the home that holds what the tool keeps there: a folder of
// something else is not opened for being in a variable.
var toolVariables = []struct {
	name    string
	holds   []string // any of these
	secrets []string
}{
	{"ASDF_DATA_DIR", []string{"installs", "plugins", "shims"}, nil},
	{"ASDF_DIR", []string{"asdf.sh", "bin/asdf"}, nil},
	{"BUN_INSTALL", []string{"bin/bun"}, nil},
	{"CARGO_HOME", []string{"bin/cargo", "registry"}, []string{"credentials", "credentials.toml"}},
	{"GOPATH", []string{"pkg/mod", "bin"}, nil},
	{"GOROOT", []string{"bin/go"}, nil},
	{"HOMEBREW_PREFIX", []string{"bin/brew"}, nil},
	{"MISE_DATA_DIR", []string{"installs", "shims"}, nil},
	{"NVM_DIR", []string{"nvm.sh", "versions"}, []string{".npmrc"}},
	{"PNPM_HOME", []string{"pnpm", "global"}, nil},
	{"PYENV_ROOT", []string{"versions", "bin/pyenv"}, nil},
	{"RBENV_ROOT", []string{"versions", "bin/rbenv"}, nil},
	{"RUSTUP_HOME", []string{"toolchains"}, nil},
	{"VOLTA_HOME", []string{"bin/volta", "tools"}, nil},
}

// readToolVariables gives the toolchains that an environment names.
func readToolVariables(t *tree, home string, environ []string) []toolchain {
	var moved []toolchain
	for _, v := range toolVariables {
		for dir := range strings.SplitSeq(lookupEnv(environ, v.name), ":") {
			at := cleanAbsolute(dir)
			if home == "" || at == "" || !below(at, home) {
				continue
			}
			for _, mark := range v.holds {
				if t.resolve(join(at, mark)).missing == "" {
					moved = append(moved, toolchain{at, v.secrets})
					break
				}
			}
		}
	}
	return moved
}
