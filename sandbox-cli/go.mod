module github.com/lnkhq/lnk-sandbox/sandbox-cli

go 1.26.0

require (
	github.com/lnkhq/lnk-sandbox/sandbox-client v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-route v0.1.0
	github.com/lnkhq/lnk-sandbox/measure-contract v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-proxy v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-wall-linux v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-wall-darwin v0.1.0
	github.com/lnkhq/lnk-sandbox/probes v0.1.0
)
