package cli_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Real work, unchanged, in the folder that is written: what people and agents
// do all day.
func TestRealWork(t *testing.T) {
	s := newSandbox(t)
	work := func(name, want, script string, flags ...string) {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"--write=" + s.project, "--write-dot-files=" + s.project}, flags...)
			e := s.run(append(args, "--", "sh", "-euc", script)...)
			if e.status != 0 || !strings.Contains(e.out, want) {
				t.Errorf("status %d: %s%s", e.status, e.out, e.errors)
			}
		})
	}
	work("git", "one\ntwo\nthree\n", `
git init -q --bare up.git
git clone -q "file://$PWD/up.git" c 2>/dev/null; cd c
git config user.name n; git config user.email e@example
for n in one two; do echo $n > $n; git add $n; git commit -qm $n; done
git checkout -q -b side HEAD~; echo three > three; git add three; git commit -qm three
git rebase -q - ; git push -q origin HEAD:main; git stash -q 2>/dev/null || true
git log --reverse --format=%s
git worktree add -q ../w; git -C ../w status --short`)
	work("other owners", "theirs unpacked\nOperation not permitted\n", `
mkdir o; cd o; echo theirs > a; tar cf a.tar --owner=4321 --group=1234 a; rm a
tar xf a.tar; echo $(cat a) unpacked
chown 4321 a 2>&1 | sed 's/.*: //'`)
	work("make", "40 made", `
mkdir m; cd m
printf '.PHONY: all\nall: $(addsuffix .o,$(shell seq 40))\n%%.o: ; @sh -c "echo $* > $@"\n' > Makefile
make -s -j8; echo $(ls *.o | wc -l) made`)
	work("cc", "compiled", `
mkdir cc; cd cc; printf '#include <stdio.h>\n#include <pthread.h>\nint main(void){puts("compiled");return 0;}\n' > a.c; gcc -O1 -pthread a.c -o a; ./a`)
	work("python", "[0, 1, 4, 9]\nshared 4", `
cat > p.py <<'P'
import multiprocessing as m, multiprocessing.shared_memory as sm, concurrent.futures as c
def square(x): return x * x
if __name__ == "__main__":
    with m.Pool(4) as pool: print(pool.map(square, range(4)))
    with c.ProcessPoolExecutor(2) as e: assert list(e.map(square, [3])) == [9]
    s = sm.SharedMemory(create=True, size=4096); print("shared", 4); s.close(); s.unlink()
    q = m.Queue(); p = m.Process(target=q.put, args=(5,)); p.start(); assert q.get() == 5; p.join()
P
/usr/bin/python3 p.py`)
	work("venv", "made here 7", `
mkdir -p pk/src index; cd pk
cat > wheel.py <<'P'
import zipfile
with zipfile.ZipFile("../index/madehere-7-py3-none-any.whl", "w") as z:
    z.writestr("madehere.py", "print('made here', 7)\n")
    z.writestr("madehere-7.dist-info/METADATA", "Metadata-Version: 2.1\nName: madehere\nVersion: 7\n")
    z.writestr("madehere-7.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("madehere-7.dist-info/RECORD", "madehere.py,,\nmadehere-7.dist-info/METADATA,,\nmadehere-7.dist-info/WHEEL,,\nmadehere-7.dist-info/RECORD,,\n")
P
/usr/bin/python3 wheel.py
/usr/bin/python3 -m venv --without-pip ../venv
if /usr/bin/python3 -m pip --version >/dev/null 2>&1; then
  /usr/bin/python3 -m pip -q --disable-pip-version-check --python ../venv/bin/python install --no-index --find-links ../index madehere 2>/dev/null \
  || /usr/bin/python3 -m pip -q install --no-index --find-links ../index --target ../venv/lib/python3*/site-packages madehere
else /usr/bin/python3 -m zipfile -e ../index/*.whl ../venv/lib/python3*/site-packages/; fi
../venv/bin/python -c 'import madehere'`)
	work("git, more", "HELLO\nup.bin: 3 bytes\n", `
git init -q --bare -b main base.git; export GIT_CONFIG_GLOBAL=$PWD/gitconfig
git config --global protocol.file.allow always; git config --global user.name n; git config --global user.email e@example
git clone -q "file://$PWD/base.git" more 2>/dev/null; cd more; echo one > one; git add one; git commit -qm one; git push -q origin HEAD:main
git submodule --quiet add "file://$PWD/../base.git" sub; git commit -qm sub
git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge 'tr A-Z a-z'
git config filter.size.clean "$PWD/../clean %f"
printf '#!/bin/sh\necho "$1: $(wc -c) bytes"\n' > ../clean; chmod +x ../clean
printf '*.up filter=up\n*.bin filter=size\n' > .gitattributes
echo hello > a.up; printf abc > up.bin; git add .; git commit -qm filters; git show HEAD:a.up HEAD:up.bin
git clone -q --recurse-submodules . ../again; test -f ../again/sub/one
git gc -q; git fsck 2>/dev/null; git bisect start >/dev/null; git bisect reset >/dev/null 2>&1`)
	work("node", "pass 2", `
cat > t.test.mjs <<'J'
import { test } from 'node:test'
import assert from 'node:assert'
import { Worker } from 'node:worker_threads'
import { watch, writeFileSync } from 'node:fs'
test('worker', async () => {
  const w = new Worker('const { parentPort: p } = require("worker_threads"); const a = new Int32Array(new SharedArrayBuffer(4)); Atomics.add(a, 0, 3); p.postMessage(a[0])', { eval: true })
  assert.equal(await new Promise(r => w.on('message', r)), 3)
})
test('watch', async () => {
  const seen = new Promise(r => { const w = watch('.', (_, name) => { if (name === 'seen') { w.close(); r(name) } }) })
  writeFileSync('seen', '')
  assert.equal(await seen, 'seen')
})
J
node --test t.test.mjs`)
	work("sqlite", "80 rows", `
cat > s.py <<'P'
import multiprocessing as m, sqlite3
def fill(n):
    d = sqlite3.connect("s.db", timeout=30)
    for i in range(20):
        with d: d.execute("insert into t values (?)", (i,))
if __name__ == "__main__":
    d = sqlite3.connect("s.db"); assert d.execute("pragma journal_mode=wal").fetchone()[0] == "wal"
    d.execute("create table t (a)"); d.commit()
    with m.Pool(4) as p: p.map(fill, range(4))
    print(*d.execute("select count(*) from t").fetchone(), "rows")
P
/usr/bin/python3 s.py`)
	work("who and what", "all well", `
test "$(id -un)" = "$(whoami)"; test "$(ls -ld . | awk '{print $3}')" = "$(id -un)"
perl -e 'exit !(getpwuid($<))[0]'; test "$(date +%Z)" = "$(perl -MPOSIX -e 'print strftime("%Z", localtime)')"
test "$(nproc)" -ge 1; free >/dev/null; df . >/dev/null; ps -e >/dev/null; top -bn1 >/dev/null
s=0; timeout 0.1 sleep 5 || s=$?; test $s = 124
mkfifo f; echo x > f & test "$(cat f)" = x; wait
script -qec tty /dev/null | grep -q /dev/pts/
locale -a >/dev/null; getent hosts localhost >/dev/null; flock l true; nice true; touch h; ln h i
echo '{"all": "well"}' | jq -r '"all " + .all'`)
}

// The go command builds a program in a folder that is no repository: what
// stands in for the .git that is not there does not make it one.
func TestGoBuildsWithoutARepository(t *testing.T) {
	s := newSandbox(t)
	s.put("go.mod", "module made.test/here\n")
	s.put("main.go", "package main\nfunc main() {}\n")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	goroot := strings.TrimSpace(string(root))
	grants := []string{"--write=" + s.project, "--read=" + goroot, "--", "env", "GOENV=off", "GOTOOLCHAIN=local"}
	// It asks git before it compiles anything; -n goes no further.
	build := []string{filepath.Join(goroot, "bin/go"), "build", "-n", "."}
	s.must(append(grants, build...)...)
	// As it is without a word to it.
	e := s.run(append(append(grants, "GOFLAGS=-mod=mod"), build...)...)
	if e.status == 0 || !strings.Contains(e.errors, "-buildvcs=false") {
		t.Errorf("with GOFLAGS of its own: status %d: %s%s", e.status, e.out, e.errors)
	}
}
