module github.com/lnkhq/lnk-sandbox/sandbox-proxy

go 1.26.0

require (
	github.com/lnkhq/lnk-sandbox/sandbox-client v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-route v0.1.0
	github.com/lnkhq/lnk-sandbox/measure-contract v0.1.0
)
