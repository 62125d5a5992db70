// Command lnk-sandbox confines a program and gives it one way out. People reach
// it as `lnk sandbox`.
package main

import (
	"os"

	cli "github.com/lnkhq/lnk-sandbox/sandbox-cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
