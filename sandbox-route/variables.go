package route

import (
	"slices"
	"strings"
)

// The variables of a sandboxed program's environment, in one place: what run
// keeps of its own, what the sandbox sets, and what nobody may hand in, since
// it makes a program load or run code that its argv does not name.
// lnk sandbox run reads all of it, CheckRoutes the refusals.

// kept is what lnk sandbox run takes over from its own environment.
var kept = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "LANG", "LC_*",
	"TZ", "PWD", "EDITOR", "PAGER", "NO_COLOR", "CI",
}

// set is what the sandbox sets itself, beside the proxy's variables and LNK_*.
var set = []string{"TMPDIR", "BROWSER", "GIT_SSH_COMMAND", "NODE_USE_ENV_PROXY"}

// injecting is what makes a loader, a shell, an interpreter or a tool load or
// run code, by the program that reads it. A name that ends in * is all that
// begin so.
var injecting = []string{
	// The C library and its loader (ld.so(8), environ(7), gconv, nls, resolver).
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "MALLOC_*", "GCONV_PATH", "GETCONF_DIR", "LOCPATH", "NLSPATH",
	"TZDIR", "HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS", "RESOLV_HOST_CONF", "NIS_PATH",
	// Shells.
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "BASH_LOADABLES_PATH", "BASH_XTRACEFD",
	"PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "IFS", "CDPATH", "GLOBIGNORE", "INPUTRC", "ZDOTDIR", "FPATH",
	// Python.
	"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONBREAKPOINT", "PYTHONINSPECT", "PYTHONUSERBASE",
	"PYTHONEXECUTABLE", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONWARNINGS", "PYTHON_PRESITE",
	// Perl and Ruby.
	"PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "PERL5SHELL", "RUBYOPT", "RUBYLIB", "RUBYSHELL", "RUBYGEMS_GEMDEPS",
	// Node.
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NPM_CONFIG_NODE_OPTIONS", "npm_config_node_options",
	"NPM_CONFIG_SCRIPT_SHELL", "npm_config_script_shell",
	// Java and .NET.
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS", "JAVA_OPTS", "CLASSPATH",
	"MAVEN_OPTS", "GRADLE_OPTS", "DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "DOTNET_SHARED_STORE",
	"CORECLR_*", "COR_ENABLE_PROFILING", "COR_PROFILER*",
	// Other interpreters.
	"LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE*", "R_ENVIRON*",
	"JULIA_LOAD_PATH", "JULIA_DEPOT_PATH", "ERL_LIBS", "ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ELIXIR_ERL_OPTIONS",
	"TCLLIBPATH", "AWKPATH", "AWKLIBPATH", "GUILE_LOAD_PATH", "GUILE_LOAD_COMPILED_PATH", "EMACSLOADPATH",
	"VIMINIT", "EXINIT", "MYVIMRC",
	// Compilers and builds.
	"GCC_EXEC_PREFIX", "COMPILER_PATH", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "GOFLAGS", "GOENV", "GOTOOLDIR",
	"RUSTC", "RUSTDOC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_RUSTC*", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS",
	// Tools that start what a variable names. GIT_SSH_COMMAND is the sandbox's own.
	"GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_EDITOR",
	"GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_ASKPASS", "SSH_ASKPASS", "VISUAL", "MANPAGER", "LESSOPEN", "LESSCLOSE",
	"RSYNC_RSH", "RSYNC_CONNECT_PROG", "CVS_RSH", "SVN_SSH", "TAR_OPTIONS", "TAPE", "SUDO_ASKPASS",
	// Libraries that load plugins by name.
	"OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "GTK_MODULES", "GTK_PATH", "GIO_EXTRA_MODULES",
	"QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH",
}

// KeptByRun says whether lnk sandbox run takes a variable of its own
// environment over into the program's.
func KeptByRun(name string) bool { return matches(kept, name) }

// SetBySandbox says whether the sandbox sets a variable itself.
func SetBySandbox(name string) bool {
	return strings.HasPrefix(name, "LNK_") || strings.HasSuffix(strings.ToUpper(name), "_PROXY") || matches(set, name)
}

// RefusedVariable says why nobody may set a variable in a sandbox, or nothing
// when anyone may. A name that is no variable's is refused too.
func RefusedVariable(name string) string {
	switch {
	case !variableName(name):
		return "not the name of a variable: letters, digits and underscores, the first no digit"
	case SetBySandbox(name):
		return "the sandbox sets it itself"
	case KeptByRun(name):
		return "lnk sandbox run sets it itself"
	case matches(injecting, name):
		return "it makes programs load or run other code"
	}
	return ""
}

// variableMax is how long a variable's name may be.
const variableMax = 128

func variableName(s string) bool {
	if s == "" || len(s) > variableMax {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// matches says whether one of the names is name, or begins it where it ends in *.
func matches(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		if start, open := strings.CutSuffix(n, "*"); open {
			return strings.HasPrefix(name, start)
		}
		return n == name
	})
}
