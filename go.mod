module github.com/lnkhq/lnk-sandbox

go 1.26.0

// The siblings, so that the root resolves without a registry. This module is never tagged.
replace (
	github.com/lnkhq/lnk-sandbox/measure-contract => ./measure-contract
	github.com/lnkhq/lnk-sandbox/probes => ./probes
	github.com/lnkhq/lnk-sandbox/sandbox-cli => ./sandbox-cli
	github.com/lnkhq/lnk-sandbox/sandbox-client => ./sandbox-client
	github.com/lnkhq/lnk-sandbox/sandbox-proxy => ./sandbox-proxy
	github.com/lnkhq/lnk-sandbox/sandbox-route => ./sandbox-route
	github.com/lnkhq/lnk-sandbox/sandbox-wall-darwin => ./sandbox-wall-darwin
	github.com/lnkhq/lnk-sandbox/sandbox-wall-linux => ./sandbox-wall-linux
)
