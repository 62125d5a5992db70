package landlock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// execute says what it can execute, and whether it can move a file to another
// folder, signal its parent and connect to what is outside.
func execute() {
	run := func(name string) error {
		// Of this thread, which is the one that is restricted.
		pid, err := syscall.ForkExec(name, []string{name}, &syscall.ProcAttr{Files: []uintptr{0, 2, 2}})
		if err != nil {
			return err
		}
		var ws syscall.WaitStatus
		_, err = syscall.Wait4(pid, &ws, 0, nil)
		return errors.Join(err, nil)
	}
	for _, name := range []string{"named", "folder/in", "link", "other", "script"} {
		fmt.Println(name+":", run("./"+name))
	}
	fmt.Println("move:", os.Rename("a", "elsewhere/b"))
	fmt.Println("move what may not run to where it may:", os.Rename("other", "folder/other"))
	fmt.Println("parent:", unix.Kill(os.Getppid(), 0))
}

// Only what is named is executed, with what that needs: nothing else, by
// another name of it neither.
func TestExecute(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/folder", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/elsewhere", 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"named": string(program), "folder/in": string(program), "other": string(program),
		"script": "#!/bin/sh\n", "a": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("other", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	loaders, err := filepath.Glob("/lib*/ld-linux-*.so*")
	if err != nil || len(loaders) == 0 {
		t.Fatal("no loader of glibc's", err)
	}
	loader, err := filepath.EvalSymlinks(loaders[0])
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, dir+"/named", dir+"/folder", dir+"/script", loader)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), childVar+"=execute")
	out, err := cmd.CombinedOutput()
	if ABI() < ExecuteABI {
		if !strings.Contains(string(out), fmt.Sprintf("the kernel has version %d, and %d is needed", ABI(), ExecuteABI)) {
			t.Errorf("a kernel that cannot: %v: %s", err, out)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := `named: <nil>
folder/in: <nil>
link: permission denied
other: permission denied
script: permission denied
move: <nil>
move what may not run to where it may: rename other folder/other: invalid cross-device link
parent: ` + refusedBy(Closable().Signals) + `
`
	if string(out) != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
}
