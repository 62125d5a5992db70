module github.com/lnkhq/lnk-sandbox/sandbox-cli

go 1.26.0

require (
	github.com/lnkhq/lnk-sandbox/measure-contract v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-client v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-proxy v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-route v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-wall-linux v0.1.0
	github.com/creack/pty v1.1.24
	github.com/miekg/dns v1.1.73
	github.com/pelletier/go-toml/v2 v2.4.3
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	golang.org/x/sys v0.50.0
	golang.org/x/term v0.48.0
)
