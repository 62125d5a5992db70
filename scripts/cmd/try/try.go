package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A trial is one machine's try: the binary, the new project, and what was made
// for it and goes again.
type trial struct {
	lnk     string
	project string
	secret  string // a file of the home folder
	hosts   []string
}

func try(lnk string) (err error) {
	t := &trial{lnk: lnk}
	if t.project, err = os.MkdirTemp("", "lnk-try-"); err != nil {
		return err
	}
	defer os.RemoveAll(t.project)
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	secret, err := os.CreateTemp(home, ".lnk-try-")
	if err != nil {
		return err
	}
	t.secret = secret.Name()
	defer os.Remove(t.secret)
	io.WriteString(secret, "private\n")
	secret.Close()

	say("1. this machine")
	if err := t.show(lnk, "sandbox", "ready", "--yes"); err != nil {
		return errors.New("this machine is not ready; the lines above say why")
	}
	say("2. a real Go module, downloaded by go inside")
	if err := t.goModule(); err != nil {
		return err
	}
	if err := t.npmPackage(); err != nil {
		return err
	}
	say("4. what is refused, and what would open it")
	if err := t.refusals(); err != nil {
		return err
	}
	say("5. the same, started from the JSON of `lnk sandbox wrap`")
	if err := t.wrapped(); err != nil {
		return err
	}
	say("all of it worked: " + t.lnk + " sandbox run --help")
	return nil
}

func say(line string) { fmt.Printf("\n== %s\n", line) }

// show runs a command, its output on ours.
func (t *trial) show(argv ...string) error {
	fmt.Printf("$ %s\n", strings.Join(argv, " "))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = t.project
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// run is `lnk sandbox run` on the project, reaching the hosts.
func (t *trial) run(hosts []string, argv ...string) error {
	return t.show(append(t.grants(hosts), argv...)...)
}

func (t *trial) grants(hosts []string) []string {
	args := []string{t.lnk, "sandbox", "run", "--yes", "--write", t.project}
	for _, h := range hosts {
		args = append(args, "--internet-host", h)
	}
	return append(args, "--")
}

// goModule downloads and runs a small public module. Where the modules come
// from is this machine's own setting.
func (t *trial) goModule() error {
	proxy, err := output("go", "env", "GOPROXY")
	if err != nil {
		return err
	}
	hosts := hostsIn(proxy)
	if len(hosts) == 0 {
		return fmt.Errorf("GOPROXY=%s names no host to download from", proxy)
	}
	t.hosts = hosts
	program := "package main\n\nimport (\n\t\"fmt\"\n\n\t\"golang.org/x/text/language\"\n)\n\nfunc main() { fmt.Println(\"built inside:\", language.English) }\n"
	if err := os.WriteFile(filepath.Join(t.project, "main.go"), []byte(program), 0o644); err != nil {
		return err
	}
	sum, err := output("go", "env", "GOSUMDB")
	if err != nil {
		return err
	}
	env := []string{"env", "GOPROXY=" + proxy, "GOSUMDB=" + sum, "GOFLAGS=-buildvcs=false -modcacherw"}
	script := "go mod init example.test/try && go get golang.org/x/text@latest && go run ."
	return t.run(hosts, append(env, "sh", "-c", script)...)
}

// npmPackage installs a small public package, where npm is there.
func (t *trial) npmPackage() error {
	if _, err := exec.LookPath("npm"); err != nil {
		say("3. npm is not installed here: left out")
		return nil
	}
	say("3. a real npm package, installed by npm inside")
	registry, err := output("npm", "config", "get", "registry")
	if err != nil {
		return err
	}
	argv := []string{"env", "npm_config_registry=" + registry}
	if ca := os.Getenv("NODE_EXTRA_CA_CERTS"); ca != "" {
		argv = append(argv, "NODE_EXTRA_CA_CERTS="+ca)
	}
	if err := t.run(hostsIn(registry), append(argv, "npm", "install", "--no-audit", "--no-fund", "is-number")...); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(t.project, "node_modules", "is-number", "package.json")); err != nil {
		return fmt.Errorf("npm ended well and installed nothing: %w", err)
	}
	return nil
}

// refusals asks for three things that were not granted. Each must fail, and
// each gets the line that says what would open it.
func (t *trial) refusals() error {
	outside := filepath.Join(filepath.Dir(t.project), "lnk-try-outside")
	for _, r := range []struct {
		what string
		ask  string
		argv []string
	}{
		{"another host", "https://example.com", []string{"curl", "-sS", "--max-time", "10", "https://example.com"}},
		{"a file of the home folder", t.secret, []string{"cat", t.secret}},
		{"a write outside", "/usr/lnk-try-outside", []string{"touch", "/usr/lnk-try-outside"}},
	} {
		fmt.Printf("-- %s\n", r.what)
		if err := t.run(t.hosts, r.argv...); err == nil {
			return fmt.Errorf("%s was not refused", r.what)
		}
		why := []string{t.lnk, "sandbox", "why", "--write", t.project}
		for _, h := range t.hosts {
			why = append(why, "--internet-host", h)
		}
		if err := t.show(append(why, r.ask)...); err != nil && exitCode(err) != 1 {
			return err
		}
	}
	if _, err := os.Lstat(outside); err == nil {
		return errors.New("a write outside reached this machine")
	}
	return nil
}

func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return -1
}

func output(argv ...string) (string, error) {
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return string(bytes.TrimSpace(out)), nil
}
