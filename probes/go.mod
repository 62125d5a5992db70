module github.com/lnkhq/lnk-sandbox/probes

go 1.26.0

require (
	github.com/lnkhq/lnk-sandbox/sandbox-client v0.1.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/lnkhq/lnk-sandbox/measure-contract v0.1.0 // indirect
	github.com/lnkhq/lnk-sandbox/sandbox-route v0.1.0 // indirect
)
