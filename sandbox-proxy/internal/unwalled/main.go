// Command unwalled serves a proxy that has no sandbox around it, for benchmarks:
// on a port of loopback, as other proxies are, and by sockets in a folder, as the
// sandboxes of others reach it, with a relay to them on another port.
//
// It opens one port of loopback, and ends when it is killed.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: unwalled <port of the proxy> <port of the relay> <folder of sockets> <port to open>")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "unwalled:", err)
		os.Exit(1)
	}
}
