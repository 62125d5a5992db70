module github.com/lnkhq/lnk-sandbox/scripts

go 1.26.0
