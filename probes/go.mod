module github.com/lnkhq/lnk-sandbox/probes

go 1.26.0

require (
	github.com/lnkhq/lnk-sandbox/sandbox-client v0.1.0
)
