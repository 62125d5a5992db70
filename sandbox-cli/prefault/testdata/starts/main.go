// Command starts prints where its text, its data and its heap are, and what is
// mapped where as it starts (proc_pid_smaps(5)).
package main

import (
	"fmt"
	"net/http"
	"os"
	"reflect"

	_ "github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault"
)

var data = 1

func main() {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) > 1 { // links as much as a command of ours has
		fmt.Println(http.Get(os.Args[1]))
	}
	fmt.Printf("%x %p %p\n%s", reflect.ValueOf(main).Pointer(), &data, new([1 << 10]int), smaps)
}
