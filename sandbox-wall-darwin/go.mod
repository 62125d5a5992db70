module github.com/lnkhq/lnk-sandbox/sandbox-wall-darwin

go 1.26.0
