package cli_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// loader is the dynamic loader of this machine, and libraries the folder of the
// C library, whose file can be executed and says its version.
func loader(t *testing.T) (loader, libraries string) {
	t.Helper()
	for _, pattern := range []string{"/lib64/ld-linux-*.so*", "/lib/ld-linux-*.so*"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			real, err := filepath.EvalSymlinks(found[0])
			if err != nil {
				t.Fatal(err)
			}
			return found[0], filepath.Dir(real)
		}
	}
	t.Fatal("no loader of glibc's: " + runtime.GOARCH)
	return "", ""
}

// With only, nothing else runs; without, each of these does.
func TestOnly(t *testing.T) {
	s := newSandbox(t)
	ld, libraries := loader(t)
	forbidden := s.put("forbidden.sh", "#!/usr/bin/perl\nprint 'RAN'\n")
	s.put("memory.py", `import os
fd = os.memfd_create("x")
os.write(fd, open("/usr/bin/id", "rb").read())
os.execve(fd, ["id"], os.environ)
`)
	helper := helperIn(t, libraries)
	scripts := map[string]string{
		"what is named":          "echo RAN | cat",
		"another":                "/usr/bin/id",
		"by the loader":          ld + " /usr/bin/id",
		"a copy":                 "cp /usr/bin/id x1; ./x1",
		"a copy by the loader":   "cp /usr/bin/id x2; " + ld + " ./x2",
		"in /tmp":                "cp /usr/bin/id /tmp/x; /tmp/x",
		"/tmp by the loader":     "cp /usr/bin/id /tmp/y; " + ld + " /tmp/y",
		"/var/tmp by the loader": "cp /usr/bin/id /var/tmp/x; " + ld + " /var/tmp/x",
		"/dev/shm by the loader": "cp /usr/bin/id /dev/shm/x; " + ld + " /dev/shm/x",
		"home by the loader":     "cp /usr/bin/id ~/x; " + ld + " ~/x",
		"a script":               forbidden,
		"a link":                 "ln -s /usr/bin/id l; ./l",
		"a library that runs":    libraries + "/libc.so.6",
		"among the libraries":    helper + " --version",
		"by the loader, there":   ld + " " + helper + " --version",
		"from memory":            "python3 memory.py",
		"preloaded":              "cp " + libraries + "/libutil.so.1 p.so; LD_PRELOAD=./p.so cat /dev/null 2>&1 | grep -q preload || echo RAN",
		"ourselves":              "/run/lnk/lnk-sandbox wall 2>&1 | grep -q 'lnk sandbox' && echo RAN",
	}
	names := slices.Sorted(maps.Keys(scripts))
	var all strings.Builder
	for _, name := range names {
		fmt.Fprintf(&all, "echo '== %s'\n(%s) 2>/dev/null\n", name, scripts[name])
	}
	ran := func(args ...string) map[string]bool {
		args = append([]string{"--write=" + s.project}, args...)
		e := s.run(append(args, "--", "sh", "-c", "cd ~; cd \"$OLDPWD\"; rm -f x1 x2 l p.so\n"+all.String())...)
		got := map[string]bool{}
		for part := range strings.SplitSeq(e.out, "== ") {
			name, said, _ := strings.Cut(part, "\n")
			got[name] = strings.TrimSpace(said) != ""
		}
		if len(got) != len(names)+1 {
			t.Fatalf("status %d: %s%s", e.status, e.out, e.errors)
		}
		return got
	}
	free := ran()
	held := ran("--only=sh", "--only=cat", "--only=cp", "--only=ln", "--only=grep", "--only=python3", "--only=rm")
	for _, name := range names {
		if !free[name] {
			t.Errorf("%s: does not run without only either", name)
		}
		if held[name] != (name == "what is named") {
			t.Errorf("%s: ran %v", name, held[name])
		}
	}
}

// helperIn gives a program that lies among the libraries.
func helperIn(t *testing.T, libraries string) string {
	t.Helper()
	found, err := filepath.Glob(libraries + "/glib-2.0/glib-compile-schemas")
	if err == nil && len(found) == 0 {
		found, err = filepath.Glob(libraries + "/gettext/hostname")
	}
	if err != nil || len(found) == 0 {
		t.Skip("needs program glib-compile-schemas")
	}
	return found[0]
}

// What is asked for works as it does without.
func TestOnlyWorks(t *testing.T) {
	s := newSandbox(t)
	s.put("through-env", "#!/usr/bin/env -S perl -w\nprint 'through env'\n")
	only := func(names ...string) []string {
		args := []string{"--write=" + s.project}
		for _, n := range names {
			args = append(args, "--only="+n)
		}
		return append(args, "--")
	}
	python := `import ssl, json, os, multiprocessing as m
os.makedirs("d", exist_ok=True); open("f", "w").close(); os.rename("f", "d/f"); os.link("d/f", "g")
print(m.Pool(2).map(abs, [-1, -2]))`
	if out := s.must(append(only("/usr/bin/python3"), "/usr/bin/python3", "-c", python)...); !strings.Contains(out, "[1, 2]") {
		t.Errorf("python: %q", out)
	}
	if out := s.must(append(only("./through-env"), "./through-env")...); out != "through env" {
		t.Errorf("through env: %q", out)
	}
	core := strings.TrimSpace(s.command("", []string{"git", "--exec-path"}).out)
	script := "git init -q --bare o.git && git clone -q file://$PWD/o.git c && cd c && git config user.email a@b && git config user.name n && git commit -q --allow-empty -m m && git push -q && git log --oneline | cat"
	if out := s.must(append(only("sh", "git", "cat", core), "sh", "-c", script)...); !strings.Contains(out, " m\n") {
		t.Errorf("git: %q", out)
	}
	// One name by a link, one in the write folder: that is kept as it is.
	if err := os.Symlink("/usr/bin/env", filepath.Join(s.root, "linked")); err != nil {
		t.Fatal(err)
	}
	s.must(append(only(filepath.Join(s.root, "linked")), filepath.Join(s.root, "linked"), "A=b")...)
	s.put("own", "#!/bin/sh\necho own\n")
	if e := s.run(append(only("./own", "cp", "cat"), "sh", "-c", "echo echo changed >> own; cp own y; cat y > own; ./own")...); e.out != "own\n" {
		t.Errorf("a named file of the write folder: %q %q", e.out, e.errors)
	}
}

// A program among the libraries that only another user may go to, as some
// servers have one, keeps root from nothing, and is none that he may start.
func TestOnlyBesideAnothersProgram(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: who cannot go there has no such program to keep")
	}
	s := newSandbox(t)
	// A machine whose libraries are these and another user's.
	closed := "/usr/lib/" + filepath.Base(s.root)
	script := `mount -t tmpfs none /mnt && mkdir -p /mnt/up /mnt/work && mount -t overlay none -o lowerdir=/usr/lib,upperdir=/mnt/up,workdir=/mnt/work /usr/lib &&
mkdir "$1" && cp /usr/bin/true "$1/theirs" && chmod 4755 "$1/theirs" && chown 12345 "$1" && chmod 0700 "$1" && shift && exec "$@"`
	run := func(argv ...string) ended {
		args := append([]string{"--mount", "sh", "-c", script, "sh", closed, lnk(), "sandbox", "run", "--yes", "--write=" + s.project, "--only=sh", "--only=/usr/bin/true"}, "--")
		return s.command("", append(append([]string{"unshare"}, args...), argv...))
	}
	if e := run("sh", "-c", "true && echo well"); e.status != 0 || e.out != "well\n" {
		t.Errorf("status %d, %q %s", e.status, e.out, e.errors)
	}
	if e := run("sh", "-c", closed+"/theirs && echo started"); e.out != "" {
		t.Errorf("what only another user may go to: %q", e.out)
	}
}

// What cannot be held, or is a mistake, is refused in one line.
func TestOnlyRefuses(t *testing.T) {
	s := newSandbox(t)
	outside := filepath.Join(s.root, "outside")
	if err := os.WriteFile(outside, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	plain := s.put("plain", "")
	os.Chmod(plain, 0o644)
	twice := s.put("twice", "#!/bin/sh\n")
	if err := os.Link(twice, filepath.Join(s.project, "other")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/usr/bin/id", filepath.Join(s.project, "planted")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ only, says string }{
		"not there":       {s.root + "/none", "not there"},
		"not on PATH":     {"no-such-program", "not found on PATH"},
		"not in view":     {outside, "is not in view: name it in read too"},
		"no program":      {"./plain", "chmod +x"},
		"what is written": {".", "the program could put one of its own there"},
		"above it":        {s.root, "the program could put one of its own there"},
		"a planted link":  {"./planted", "which the program could have put there"},
		"two names":       {"./twice", "has another name"},
		"everything":      {"/", "is everything"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"--write=" + s.project, "--only=" + c.only}
			if name == "above it" {
				args = append(args, "--read="+s.root)
			}
			e := s.run(append(args, "--", "true")...)
			if e.status != 125 || strings.Count(e.errors, "\n") != 1 || !strings.Contains(e.errors, c.says) {
				t.Errorf("status %d: %s", e.status, e.errors)
			}
		})
	}
	for argv, status := range map[string]int{"id": 126, "no-such-program": 127} {
		e := s.run("--write="+s.project, "--only=true", "--", argv)
		if e.status != status || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%s: status %d: %s", argv, e.status, e.errors)
		}
	}
}
