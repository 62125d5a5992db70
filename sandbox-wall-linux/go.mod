module github.com/lnkhq/lnk-sandbox/sandbox-wall-linux

go 1.26.0

require (
	github.com/go-json-experiment/json v1.27.2
	github.com/google/go-cmp v0.7.0
	github.com/lnkhq/lnk-sandbox/sandbox-client v0.1.0
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.50.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/lnkhq/lnk-sandbox/measure-contract v0.1.0 // indirect
	github.com/lnkhq/lnk-sandbox/sandbox-route v0.1.0 // indirect
)
