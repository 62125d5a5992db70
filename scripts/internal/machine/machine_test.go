package machine

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"there": 0o755, "unreadable": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	missing := Missing([]Program{{"there", "a", ""}, {"unreadable", "b", ""}, {"folder", "b", ""}, {"gone", "d c", ""}}, "/nowhere:"+dir)
	if got, want := packagesOf(missing), []string{"b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("packages %q, want %q", got, want)
	}
}

func TestKernel(t *testing.T) {
	for text, want := range map[string][2]int{
		"6.1.0-18-amd64\n": {6, 1},
		"6.12-rc1":         {6, 12},
		"odd":              {0, 0},
	} {
		if got := kernel(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// The machine that runs this has what scripts/test installed.
func TestFacts(t *testing.T) {
	f := Facts()
	if f.Kernel[0] < 3 {
		t.Errorf("kernel %v", f.Kernel)
	}
	if !f.Has["program git"] || f.Has["macos"] {
		t.Errorf("facts %v", f.Has)
	}
}

func TestLeft(t *testing.T) {
	dir := t.TempDir()
	find := func() []Process {
		left, err := Left(0, dir)
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	if left := find(); len(left) > 0 {
		t.Fatalf("before anything was started: %v", left)
	}
	for name, change := range map[string]func(*exec.Cmd){
		"by its environment": func(c *exec.Cmd) { c.Env = []string{"X=" + dir + "/x"} },
		"by its folder":      func(c *exec.Cmd) { c.Dir = dir },
		"by its arguments":   func(c *exec.Cmd) { c.Args = append(c.Args, dir+"/x") },
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", "echo up; read line")
			change(cmd)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			left := find()
			if len(left) != 1 || left[0].PID != cmd.Process.Pid || !strings.Contains(left[0].String(), "read line") {
				t.Errorf("found %v, want process %d", left, cmd.Process.Pid)
			}
			if err := (Process{PID: cmd.Process.Pid}).Kill(); err != nil {
				t.Error(err)
			}
			if cmd.Wait() == nil {
				t.Error("it was not killed")
			}
		})
	}
	if left := find(); len(left) > 0 {
		t.Errorf("after all have ended: %v", left)
	}
}

func TestProfile(t *testing.T) {
	got := profile("/tmp/lt12")
	want := "abi <abi/4.0>,\nprofile lnk-test-lt12 \"/tmp/lt12/**\" flags=(unconfined) {\n  userns,\n}\n"
	if got != want {
		t.Errorf("profile:\n%s\nwant:\n%s", got, want)
	}
}

func TestUserEnvironment(t *testing.T) {
	u := User{Name: "ann", Home: "/home/ann"}
	env := u.Environment()
	if !slices.Contains(env, "HOME=/home/ann") || !slices.Contains(env, "USER=ann") {
		t.Errorf("environment %q", env)
	}
	for _, v := range env {
		if strings.Contains(v, os.Getenv("HOME")) && os.Getenv("HOME") != "/" {
			t.Errorf("%q is of our own environment", v)
		}
	}
}

func TestWhoWasMadeIsWrittenDown(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, name := range []string{"", OrdinaryUser, ""} {
		if err := record(file, name); err != nil {
			t.Fatal(err)
		}
		if got := recorded(file); got != name {
			t.Errorf("recorded %q, want %q", got, name)
		}
	}
}
