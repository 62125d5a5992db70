module github.com/lnkhq/lnk-sandbox/sandbox-cli

go 1.26.0

require (
	github.com/creack/pty v1.1.24
	github.com/go-json-experiment/json v1.27.2
	github.com/lnkhq/lnk-sandbox/measure-contract v0.1.0
	github.com/lnkhq/lnk-sandbox/probes v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-client v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-proxy v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-route v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-wall-linux v0.1.0
	github.com/miekg/dns v1.1.73
	github.com/pelletier/go-toml/v2 v2.4.3
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	go.uber.org/goleak v1.3.0
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.50.0
	golang.org/x/term v0.48.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/armon/go-socks5 v0.0.0-20160902184237-e75332964ef5 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/nftables v0.3.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mdlayher/netlink v1.7.3-0.20250113171957-fbb4dce95f42 // indirect
	github.com/mdlayher/socket v0.5.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)
