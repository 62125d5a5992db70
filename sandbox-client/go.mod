module github.com/lnkhq/lnk-sandbox/sandbox-client

go 1.26.0

require (
	github.com/go-json-experiment/json v1.27.2
	github.com/google/go-cmp v0.7.0
	github.com/lnkhq/lnk-sandbox/measure-contract v0.1.0
	github.com/lnkhq/lnk-sandbox/sandbox-route v0.1.0
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)
