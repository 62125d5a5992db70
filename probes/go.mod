module github.com/lnkhq/lnk-sandbox/probes

go 1.26.0
