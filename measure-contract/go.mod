module github.com/lnkhq/lnk-sandbox/measure-contract

go 1.26.0
