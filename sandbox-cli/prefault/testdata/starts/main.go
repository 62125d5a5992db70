// Command starts prints where its text, its tables, its data and its heap are,
// and what is mapped where as it starts (proc_pid_smaps(5)).
package main

import (
	"fmt"
	"os"
	"reflect"
	"unsafe"

	_ "github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault"
)

const table = "a text that lies among the tables"

var data = 1

func main() {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%x %p %p %p\n%s", reflect.ValueOf(main).Pointer(), unsafe.StringData(table), &data, new([1 << 10]int), smaps)
}
