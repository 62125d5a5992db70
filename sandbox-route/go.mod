module github.com/lnkhq/lnk-sandbox/sandbox-route

go 1.26.0
