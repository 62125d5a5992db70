// Command try shows the main job on this machine: real programs in a sandbox
// that writes one new project folder and reaches the named hosts only, and
// what is refused beside that.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "try: want the path of lnk")
		os.Exit(2)
	}
	if err := try(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "try: %v\n", err)
		os.Exit(1)
	}
}
