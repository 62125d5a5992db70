package route_test

import (
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestRefusedVariable(t *testing.T) {
	const (
		kept    = "lnk sandbox run sets it itself"
		sandbox = "the sandbox sets it itself"
		code    = "it makes programs load or run other code"
		none    = "not the name of a variable: letters, digits and underscores, the first no digit"
	)
	for why, names := range map[string]string{
		kept:    "PATH HOME USER LOGNAME SHELL TERM COLORTERM LANG LC_ALL LC_CTYPE TZ PWD EDITOR PAGER NO_COLOR CI",
		sandbox: "HTTPS_PROXY https_proxy ALL_PROXY no_proxy Ftp_Proxy npm_config_https_proxy _PROXY LNK_HOME LNK_X LNK_ TMPDIR BROWSER GIT_SSH_COMMAND NODE_USE_ENV_PROXY",
		code: "LD_PRELOAD LD_AUDIT LD_ DYLD_INSERT_LIBRARIES BASH_ENV ENV NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP PERL5OPT PERL5LIB " +
			"RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GCONV_PATH LOCPATH PYTHONBREAKPOINT PERL5DB LUA_INIT LUA_INIT_5_4 GIT_SSH " +
			"GIT_EXTERNAL_DIFF PROMPT_COMMAND SHELLOPTS BASHOPTS IFS BASH_FUNC_ls GLIBC_TUNABLES MALLOC_CHECK_ PS4 PYTHONWARNINGS LESSOPEN SSH_ASKPASS " +
			"OPENSSL_CONF GOFLAGS RUSTC_WRAPPER MAKEFLAGS DOTNET_STARTUP_HOOKS CLASSPATH ZDOTDIR",
		none: "1A A-B A.B BASH_FUNC_x%% É A\nB " + strings.Repeat("A", 129),
		"":   "API_URL GIT_CONFIG_COUNT GIT_CONFIG_VALUE_0 LANGUAGE path Path ENVIRONMENT PROXY MY_PROXY_URL LNKX PYTHONUNBUFFERED ld_preload _ a1 " + strings.Repeat("A", 128),
	} {
		for name := range strings.SplitSeq(names, " ") {
			if got := route.RefusedVariable(name); got != why {
				t.Errorf("%q: refused with %q, want %q", name, got, why)
			}
		}
	}
	for _, name := range []string{"", "A=B", "A\x00", "A B"} {
		if route.RefusedVariable(name) != none {
			t.Errorf("%q is a variable", name)
		}
	}
}

func TestKeptByRun(t *testing.T) {
	for name, want := range map[string]bool{"PATH": true, "LC_TIME": true, "LC_": true, "LC": false, "PATHS": false, "SSH_AUTH_SOCK": false, "": false} {
		if got := route.KeptByRun(name); got != want {
			t.Errorf("%q kept: %v", name, got)
		}
	}
}
