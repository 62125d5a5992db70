module github.com/lnkhq/lnk-sandbox/sandbox-route

go 1.26.0

require (
	github.com/go-json-experiment/json v1.27.2
	pgregory.net/rapid v1.3.0
)
