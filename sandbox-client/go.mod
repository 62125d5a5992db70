module github.com/lnkhq/lnk-sandbox/sandbox-client

go 1.26.0

require (
	github.com/go-json-experiment/json v1.27.2
	github.com/lnkhq/lnk-sandbox/measure-contract v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-route v0.1.0
)
