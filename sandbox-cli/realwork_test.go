package cli_test

import (
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
}
