package client

import (
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// systemFolders are what no person means to have a program write, and whether
// that is so of all that is in them too.
var systemFolders = []struct {
	path string
	deep bool
}{
	// Programs, libraries, settings and devices of the system.
	{"/bin", true}, {"/sbin", true}, {"/lib", true}, {"/lib32", true}, {"/lib64", true}, {"/libx32", true},
	{"/usr", true}, {"/etc", true}, {"/boot", true}, {"/dev", true}, {"/proc", true}, {"/sys", true}, {"/run", true},
	{"/nix/store", true}, {"/gnu/store", true}, {"/var/lib/ca-certificates", true}, {"/System", true}, {"/Library", true}, {"/Applications", true}, {"/private/etc", true},
	// Folders of folders: each of many, and so of nobody.
	{"/var", false}, {"/var/lib", false}, {"/var/log", false}, {"/var/cache", false}, {"/var/spool", true},
	{"/var/run", true}, {"/var/db", false}, {"/opt", false}, {"/srv", false}, {"/home", false}, {"/root", false},
	{"/nix", false}, {"/gnu", false}, {"/snap", false}, {"/Users", false}, {"/Users/Shared", false}, {"/Volumes", false},
	{"/cores", false}, {"/private", false}, {"/private/var", false}, {"/private/var/db", false}, {"/private/var/run", true},
	{"/opt/homebrew", false},
}

// people's own, in a folder that is the system's.
var notSystem = []string{"/usr/src", "/usr/local/src", "/run/media"}

// CheckWrite refuses what no person means by a folder to write: the root, the
// home folder or one above it, a system folder, and what holds the settings
// folder or lies in it, also through symbolic links. The path is absolute and
// clean, and must be there.
func (b Base) CheckWrite(path string) error {
	if err := b.check(); err != nil {
		return err
	}
	if err := form.Path(path); err != nil {
		return err
	}
	real, err := b.thereIs(path)
	if err != nil {
		return err
	}
	for _, p := range []string{path, real} {
		if why := b.writeRefused(p); why != "" {
			if p != path {
				why = "a link to " + form.Quote(p) + ", " + why
			}
			return form.Refuse(form.Quote(path) + ": " + why)
		}
	}
	return nil
}

// writeRefused says why a path as it is spelled is not for writing, and what to do.
func (b Base) writeRefused(p string) string {
	within := func(p, dir string) bool { return route.Within(p, dir, b.FoldCase) }
	if p == "/" {
		return "the whole machine, name the folders that are written"
	}
	for _, home := range b.spellings(b.Home) {
		if within(p, home) && within(home, p) {
			return "the home folder itself, name the folders in it that are written"
		}
	}
	for _, settings := range b.spellings(string(b.Settings)) {
		if within(p, settings) {
			return "in the settings folder " + settings + ", which stays closed, name a folder elsewhere"
		}
		if within(settings, p) {
			return "holds the settings folder " + settings + ", which stays closed, name the folders in it that are written"
		}
	}
	for _, home := range b.spellings(b.Home) {
		if within(home, p) {
			return "holds the home folder, name the folders in that that are written"
		}
		if within(p, home) && home != "/" {
			return ""
		}
	}
	for _, own := range notSystem {
		if within(p, own) && !within(own, p) {
			return ""
		}
	}
	for _, s := range systemFolders {
		if within(s.path, p) || s.deep && within(p, s.path) {
			return "a system folder, name a folder of your own"
		}
	}
	return ""
}

// spellings gives a folder as it is written and with its links followed.
func (b Base) spellings(p string) []string {
	if real := b.follow(p); real != p {
		return []string{p, real}
	}
	return []string{p}
}

// Credentials are the files and folders that hold credentials, or what a
// person typed and read, each relative to the home folder. [Of] hides them
// when read_home is on. One that is missing here is a leak: this is the only list.
func Credentials() []string {
	var all []string
	for _, group := range [][]string{keys, clouds, packages, passwords, browsers, messages, histories} {
		all = append(all, group...)
	}
	return all
}

var keys = []string{
	".ssh", ".gnupg", ".pki", ".putty", ".age", ".config/age", ".config/sops", ".netrc", "_netrc", ".rhosts",
	".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli", ".config/tea",
	".subversion/auth", ".Xauthority", ".ICEauthority", ".authinfo", ".authinfo.gpg", ".smbcredentials",
	".config/filezilla", ".filezilla", ".config/remmina", ".local/share/remmina", ".vnc", ".config/rclone", ".rclone.conf",
}

var clouds = []string{
	".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/containers/auth.json", ".oci", ".aliyun",
	".bluemix", ".ibmcloud", ".config/doctl", ".config/hcloud", ".config/linode-cli", ".config/scw", ".config/heroku",
	".fly", ".config/flyctl", ".config/stripe", ".config/netlify", ".local/share/com.vercel.cli", ".railway",
	".wrangler", ".config/.wrangler", ".s3cfg", ".boto", ".databrickscfg", ".snowsql", ".snowflake", ".kaggle",
	".config/kaggle", ".huggingface", ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".vault-token",
	".terraform.d", ".terraformrc", ".config/pulumi", ".pulumi", ".config/helm", ".config/argocd", ".tsh",
	".claude.json", ".claude/.credentials.json", ".codex/auth.json", ".gemini", ".config/github-copilot",
	".bitcoin", ".ethereum", ".electrum", ".bitmonero", ".config/solana",
}

var packages = []string{
	".npmrc", ".yarnrc.yml", ".pypirc", ".config/pip", ".pip", ".cargo/credentials", ".cargo/credentials.toml",
	".gem/credentials", ".local/share/gem/credentials", ".bundle/config", ".m2/settings.xml", ".m2/settings-security.xml",
	".gradle/gradle.properties", ".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet", ".config/NuGet",
	".config/pypoetry/auth.toml", ".hex", ".config/hex", ".pgpass", ".my.cnf", ".mylogin.cnf",
}

var passwords = []string{
	".password-store", ".local/share/password-store", ".local/share/gopass", ".config/gopass", ".local/share/keyrings",
	".local/share/kwalletd", ".gnome2/keyrings", ".config/op", ".op", ".config/1Password", ".config/Bitwarden",
	".config/Bitwarden CLI", ".config/keepassxc", ".cache/keepassxc", ".config/KeePass", ".lastpass", ".local/share/lpass",
	".config/Proton Pass", "Library/Keychains", "Library/Accounts", "Library/Application Support/1Password",
	"Library/Application Support/Bitwarden", "Library/Application Support/com.bitwarden.desktop",
	"Library/Group Containers/2BUA8C4S2C.com.1password", "Library/Group Containers/LTZ2PFU5D6.com.bitwarden.desktop",
	"Library/Containers/com.bitwarden.desktop", "Library/Application Support/KeePassXC",
}

var browsers = []string{
	".mozilla", ".config/mozilla", ".cache/mozilla", ".librewolf", ".waterfox", ".zen", ".tor-browser",
	".local/share/torbrowser", ".config/google-chrome", ".config/google-chrome-beta", ".config/google-chrome-unstable",
	".cache/google-chrome", ".config/chromium", ".cache/chromium", ".config/BraveSoftware", ".cache/BraveSoftware",
	".config/microsoft-edge", ".cache/microsoft-edge", ".config/opera", ".config/vivaldi", ".local/share/qutebrowser",
	".local/share/epiphany", ".config/falkon", ".var/app", "snap",
	"Library/Application Support/Firefox", "Library/Application Support/Google", "Library/Application Support/Chromium",
	"Library/Application Support/BraveSoftware", "Library/Application Support/Microsoft Edge",
	"Library/Application Support/Arc", "Library/Application Support/Vivaldi",
	"Library/Application Support/com.operasoftware.Opera", "Library/Safari", "Library/Cookies",
	"Library/HTTPStorages", "Library/WebKit", "Library/Containers/com.apple.Safari",
	"Library/Caches/Firefox", "Library/Caches/Google", "Library/Caches/com.apple.Safari",
}

var messages = []string{
	".thunderbird", ".mutt", ".config/mutt", ".config/neomutt", ".config/evolution", ".local/share/evolution",
	".msmtprc", ".config/msmtp", ".mbsyncrc", ".fetchmailrc", ".purple", ".config/Signal", ".local/share/TelegramDesktop",
	".config/discord", ".config/Slack", ".config/Element", ".weechat", ".config/weechat", ".irssi",
	"Library/Mail", "Library/Messages", "Library/Application Support/Slack", "Library/Application Support/discord",
	"Library/Application Support/Signal", "Library/Application Support/AddressBook", "Library/Calendars",
}

var histories = []string{
	".bash_history", ".bash_sessions", ".zsh_history", ".zsh_sessions", ".zhistory", ".histfile", ".history",
	".sh_history", ".ksh_history", ".local/share/fish/fish_history", ".config/nushell/history.txt",
	".config/nushell/history.sqlite3", ".local/share/atuin", ".python_history", ".node_repl_history", ".irb_history",
	".pry_history", ".psql_history", ".mysql_history", ".mariadb_history", ".sqlite_history", ".rediscli_history",
	".mongorc.js", ".mongodb", ".dbshell", ".lesshst", ".local/state/less", ".viminfo", ".local/state/nvim", ".wget-hsts",
	".local/share/recently-used.xbel",
}
