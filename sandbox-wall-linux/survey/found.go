package survey

// A Kind is what a name of a folder is.
type Kind uint8

// The kinds of names. The zero value is one that is of no interest.
const (
	Other Kind = iota
	Folder
	File
	Link
	Socket
)

// An Entry is one name of a folder.
type Entry struct {
	Name string
	Kind Kind
}

// A Repository is one of git's (gitrepository-layout(5)).
type Repository struct {
	// Path is that of its .git, or of a bare repository's own folder.
	Path string
	// Bare is whether it stands by itself, with no .git above it.
	Bare bool
}

// Found is what a walk found, in the order in which it came by.
type Found struct {
	Repositories []Repository
	// Beside are dot files beside a repository's .git, other than that.
	Beside []string
	// Sockets are the files of sockets, whether anything listens or not.
	Sockets []string
	// Watched are files and folders that tools outside act on.
	Watched []string
	// Unseen are folders that the time did not suffice for: nothing is known
	// of what is in them.
	Unseen []string
	// Shut are folders that may not be listed now, but by whoever owns them
	// after a chmod(2).
	Shut []string
}

// git's own folder, and what makes a folder a bare repository: git wants all
// three (is_git_directory in setup.c).
const gitName = ".git"

var bareNames = [...]string{"HEAD", "objects", "refs"}

// watched are names that tools outside act on when the person opens or enters
// the folder, or commits, or runs what is usual there. A name with nothing is
// the file or folder itself; else only these in it.
var watched = map[string][]string{
	".envrc":                  nil,
	".vscode":                 nil,
	".idea":                   nil,
	".husky":                  nil,
	".devcontainer":           nil,
	".devcontainer.json":      nil,
	".claude":                 nil,
	".codex":                  nil,
	".cursor":                 nil,
	".gemini":                 nil,
	".kiro":                   nil,
	".windsurf":               nil,
	".zed":                    nil,
	".mcp.json":               nil,
	".cargo":                  {"config", "config.toml"},
	".github":                 {"workflows", "actions"},
	".gitlab-ci.yml":          nil,
	".circleci":               nil,
	".pre-commit-config.yaml": nil,
	".lefthook.yml":           nil,
	"lefthook.yml":            nil,
	".npmrc":                  nil,
	".yarnrc.yml":             nil,
	".pnpmfile.cjs":           nil,
	".mise.toml":              nil,
	"mise.toml":               nil,
	".tool-versions":          nil,
	".bazelrc":                nil,
	".gdbinit":                nil,
	".agents":                 nil,
	".opencode":               nil, // its plugins are loaded at a start
	"opencode.json":           nil,
	"opencode.jsonc":          nil,
	".aider.conf.yml":         nil,
	".continue":               nil,
	".roo":                    nil,
	".kilocode":               nil,
	".qwen":                   nil,
	".amazonq":                nil,
	".helix":                  nil, // commands of language servers
	".yarnrc":                 nil, // yarn-path is what yarn executes
	"bunfig.toml":             nil, // preload
	".mvn":                    nil, // extensions and options of the virtual machine
	".Rprofile":               nil,
	".hg":                     {"hgrc", "hgrc-not-shared"}, // hooks
	".jj":                     {"repo/config.toml"},
}

// atTop are those of them that are acted on at the top of a repository alone:
// packages of others bring their own, which nothing reads.
var atTop = map[string]bool{
	".github": true, ".gitlab-ci.yml": true, ".circleci": true, ".pre-commit-config.yaml": true,
	".lefthook.yml": true, "lefthook.yml": true, ".yarnrc": true, "bunfig.toml": true,
	".agents": true, ".opencode": true, "opencode.json": true, "opencode.jsonc": true, ".aider.conf.yml": true,
	".continue": true, ".roo": true, ".kilocode": true, ".qwen": true, ".amazonq": true,
}

// beside are the dot files that are kept beside a repository's .git.
var beside = map[string]bool{".envrc": true, ".vscode": true, ".idea": true}

// last are names of folders that hold many folders and seldom a repository:
// they are gone through when all others were.
var last = map[string]bool{
	"node_modules": true, "bower_components": true, "vendor": true, "target": true, "build": true, "dist": true, "out": true,
	"__pycache__": true, "site-packages": true, ".venv": true, "venv": true, ".tox": true, ".nox": true, ".cache": true,
	".gradle": true, ".m2": true, ".next": true, ".nuxt": true, ".terraform": true, ".pnpm-store": true, ".yarn": true,
	".cargo": true, ".rustup": true, ".npm": true,
}
