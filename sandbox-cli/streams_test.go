package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the standard streams are open on is no way out of the sandbox.
func TestStreams(t *testing.T) {
	for _, net := range []string{"", allow} {
		s := newSandbox(t)
		outside := filepath.Join(s.root, "outside")
		restore := func(text string) {
			if err := os.WriteFile(outside, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		run := lnk() + " sandbox run --yes --write=" + s.project + " " + net + " -- "
		restore("mine\n")
		for _, line := range []string{run + "true < " + s.root, run + "true 2< /", run + "true > /dev/null 1< /etc"} {
			if e := s.command("", []string{"bash", "-c", line}); e.status != 125 {
				t.Errorf("%s: status %d, want 125: %s", line, e.status, e.errors)
			}
		}
		e := s.command("", []string{"bash", "-c", run + "sh -c 'read l; echo $l; echo evil > /proc/self/fd/0' < " + outside})
		if b, _ := os.ReadFile(outside); string(b) != "mine\n" || !strings.HasPrefix(e.out, "mine\n") {
			t.Errorf("input: the file holds %q, the program read %q: %s", b, e.out, e.errors)
		}
		s.command("", []string{"bash", "-c", run + "sh -c 'echo one; echo two >&2; : > /proc/self/fd/1; echo three; exit 0' >> " + outside + " 2>&1"})
		if b, _ := os.ReadFile(outside); string(b) != "mine\none\ntwo\nthree\n" {
			t.Errorf("output: the file holds %q", b)
		}
		restore("")
		e = s.command("", []string{"bash", "-c", run + "sh -c 'head -c 3000000 /dev/zero; sleep 100 & exit 5' > " + outside})
		if info, err := os.Stat(outside); e.status != 5 || err != nil || info.Size() != 3000000 {
			t.Errorf("output: status %d, %v", e.status, info.Size())
		}
	}
}

// A pipe that whoever reads on in it has as well is not the program's to write on,
// nor is more of it taken than it took.
func TestPipeIsNotWritten(t *testing.T) {
	s := newSandbox(t)
	wrapped := func(program string) string {
		argv, env := s.wrapArgv("closed", "sh", "-c", program)
		command := "env"
		for _, word := range append(env, argv...) {
			command += " " + quote(word)
		}
		return command
	}
	commands := []string{wrapped(pipeWriter)}
	for _, more := range []string{"", allow, "--bubblewrap"} {
		commands = append(commands, lnk()+" sandbox run --yes --write="+s.project+" "+more+" -- sh -c "+quote(pipeWriter))
	}
	for _, command := range commands {
		loop := "while read -r line; do case $line in run) " + command + ";; *) echo read $line;; esac; done; echo done"
		if e := s.command("one\nrun\nmine\nrun\nrest\n", []string{"bash", "-c", loop}); e.out != "read one\ntook mine\ntook run\ntook rest\ndone\n" {
			t.Errorf("%s: %q, %q", command, e.out, e.errors)
		}
	}
	one := wrapped("read line; echo took $line")
	if e := s.command("run\nmine\nrun\nyours\n", []string{"bash", "-c", "while read -r line; do " + one + "; done"}); e.out != "took mine\ntook yours\n" {
		t.Errorf("%q, %q", e.out, e.errors)
	}
}

// pipeWriter reads its standard input to the end, and opens it to write.
const pipeWriter = "while read -r line; do echo took $line; done; echo evil > /proc/self/fd/0; echo evil > /dev/stdin"

// A shell's script that comes by a pipe goes on where the program leaves it: it has
// no standard input then, and that is said. By a pipe of its own it has what is there,
// also under a shell that was told its commands.
func TestScriptByPipe(t *testing.T) {
	for _, more := range []string{"", allow, "--bubblewrap"} {
		s := newSandbox(t)
		outside := filepath.Join(s.root, "planted")
		run := lnk() + " sandbox run --yes --write=" + s.project + " " + more + " -- "
		plant := "sh -c 'echo \"touch " + outside + "\" 2>/dev/null > /proc/self/fd/0; cat; echo ran'"
		for _, shell := range [][]string{{"sh"}, {"bash", "-e"}, {"bash", "-s", "a"}, {"sh", "-c", "sh"}, {"env", "bash"}} {
			e := s.command(run+plant+"\necho rest\n", shell)
			if e.out != "ran\nrest\n" || e.status != 0 || !strings.Contains(e.errors, "the script that "+shellOf(shell)+" reads") {
				t.Errorf("%s %q: status %d: %q, %q", more, shell, e.status, e.out, e.errors)
			}
			if _, err := os.Lstat(outside); err == nil {
				t.Fatalf("%s %q: the program's line was executed outside", more, shell)
			}
		}
		// Of shells of one name the inner one reads this script.
		e := s.command("printf '%s\\n' "+quote(run+plant)+" 'echo rest' | sh\n", []string{"sh"})
		if _, err := os.Lstat(outside); e.out != "ran\nrest\n" || err == nil {
			t.Errorf("%s, a shell in a shell: %q, %q, %v", more, e.out, e.errors, err)
		}
		// A part of a script has what is piped to it.
		for _, part := range []string{"(" + run + "cat; true)", "{ read line; echo $line; " + run + "cat; }", "while read line; do echo $line; " + run + "cat; done"} {
			e := s.command("printf 'one\\ntwo\\n' | "+part+"\n", []string{"bash"})
			if e.out != "one\ntwo\n" || strings.Contains(e.errors, "script that") {
				t.Errorf("%s %s: %q, %q", more, part, e.out, e.errors)
			}
		}
		for _, argv := range [][]string{{"sh", "-c", run + "cat; true"}, {"bash", "-c", "read line; echo $line; " + run + "cat"}, {"sh", s.put("script", run+"cat\n")}} {
			if e := s.command("one\ntwo\n", argv); e.out != "one\ntwo\n" || strings.Contains(e.errors, "script that") {
				t.Errorf("%s %q: %q, %q", more, argv, e.out, e.errors)
			}
		}
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func shellOf(argv []string) string {
	if argv[0] == "env" {
		return argv[1]
	}
	return argv[0]
}

// No file is left that runs as its owner.
func TestNoSetUserID(t *testing.T) {
	s := newSandbox(t)
	e := s.run("--write="+s.project, "--", "sh", "-c", "cp /bin/true t && chmod 755 t && chmod 4755 t")
	if e.status == 0 {
		t.Error("it was said to be done")
	}
	if info, err := os.Stat(filepath.Join(s.project, "t")); err != nil || info.Mode()&os.ModeSetuid != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// The spec is not the program's to write, though it lies in a folder that is.
func TestSpecIsKept(t *testing.T) {
	s := newSandbox(t)
	text := "[files]\nwrite = [\".\"]\n"
	spec := s.put("sandbox.toml", text)
	for script, well := range map[string]bool{
		"echo x >> sandbox.toml":                  false,
		"mv sandbox.toml old":                     false,
		"rm sandbox.toml; echo x > sandbox.toml":  false,
		"echo x > n && mv -f n sandbox.toml":      false,
		"cat sandbox.toml && echo x > other.toml": true,
	} {
		e := s.run("--spec="+spec, "--", "sh", "-c", script)
		if (e.status == 0) != well || e.status >= 125 {
			t.Errorf("%q: status %d: %s", script, e.status, e.errors)
		}
		if b, _ := os.ReadFile(spec); string(b) != text {
			t.Errorf("%q: the spec holds %q", script, b)
		}
	}
	if err := os.Rename(spec, filepath.Join(s.root, "elsewhere.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere.toml", spec); err != nil {
		t.Fatal(err)
	}
	if e := s.run("--spec="+spec, "--", "true"); e.status != 125 {
		t.Errorf("a spec that is a link in what is written: status %d: %s", e.status, e.errors)
	}
}
